package billcoretests

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"billcore"
	"billcore/billcoretest"
	"billcore/webhook"
)

func TestALateChargeIsBooked(t *testing.T) {
	account := billcoretest.NewAccount(t)
	verifier := must(webhook.NewVerifier([]byte(account.WebhookSecret)))
	t.Cleanup(verifier.Close)
	var booked atomic.Int64
	account.Serve(verifier.Handler(func(_ http.ResponseWriter, _ *http.Request, event *webhook.Event) {
		if order, err := event.Order(); err == nil && event.Type() == webhook.EventOrderPaid {
			total, _ := order.Total()
			booked.Add(total)
		}
	}))
	client := client(t, account)
	id, product := account.IDs.Subscriptions["demo-active"], account.IDs.Products["one_time"]
	account.Post("faults", billcoretest.Fields{"kind": "late", "operation": "charge", "delay": 60})
	_, charge := client.Subscriptions().Charge(background, id, product, 1500)
	if e := code(t, charge, billcore.ErrOutcomeUnknown); e.AttemptedAt.IsZero() {
		t.Fatal(charge)
	}
	account.Post("clock", billcoretest.Fields{"seconds": 61})
	found := must(client.Subscriptions().FindCharges(background, fmt.Errorf("wrapped: %w", charge)))
	runtime.GC() // the garbage collection must not free the page that the orders use
	if len(found) != 1 || must(found[0].Total()) != 1500 {
		t.Fatal(found)
	}
	account.Post("wait", billcoretest.Fields{"delivery": billcoretest.Fields{"event": "order.paid", "state": "delivered"}, "count": 1})
	if booked.Load() != 1500 {
		t.Fatal(booked.Load())
	}
}

func TestAnAccountHasItsOptions(t *testing.T) {
	for _, options := range [][]billcoretest.Fields{nil, {{"event_payload": "reduced", "settlement": "manual"}}} {
		account := billcoretest.NewAccount(t, options...)
		verifier := must(webhook.NewVerifier([]byte(account.WebhookSecret)))
		t.Cleanup(verifier.Close)
		var missing atomic.Int64
		account.Serve(verifier.Handler(func(_ http.ResponseWriter, _ *http.Request, event *webhook.Event) {
			order, err := event.Order()
			if err == nil {
				_, err = order.Metadata()
			}
			if err != nil {
				missing.Add(1)
			}
		}))
		id, product := account.IDs.Subscriptions["demo-active"], account.IDs.Products["one_time"]
		order := must(client(t, account).Subscriptions().Charge(background, id, product, 1500))
		account.Post("wait", billcoretest.Fields{"delivery": billcoretest.Fields{"event": "order.confirmed"}})
		if state := must(order.State()); (missing.Load() == 0) != (options == nil) || (state == billcore.OrderStatePaid) != (options == nil) {
			t.Fatal(missing.Load(), state)
		}
	}
}

func client(t *testing.T, account *billcoretest.Account) *billcore.Client {
	t.Helper()
	made := must(billcore.NewClient(billcore.WithBaseURL(account.BaseURL), billcore.WithAPIKey(account.APIKey)))
	t.Cleanup(func() { _ = made.Close() })
	return made
}

// judged is a testing.TB whose Errorf only records the failure.
type judged struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (j *judged) Cleanup(f func()) { j.cleanups = append(j.cleanups, f) }
func (j *judged) Errorf(format string, arguments ...any) {
	j.failures = append(j.failures, fmt.Sprintf(format, arguments...))
}

func TestAFaultThatNeverHappensAndAnUnknownParameterFailTheTest(t *testing.T) {
	j := &judged{TB: t}
	account := billcoretest.NewAccount(j)
	account.Post("faults", billcoretest.Fields{"kind": "reset_after", "operation": "charge"})
	account.Post("faults", billcoretest.Fields{"kind": "reset_after", "operation": "cancel", "optional": true})
	if _, err := client(t, account).Request(background, "GET", "/products", billcore.RequestQuery("pge", "2")); err != nil {
		t.Fatal(err)
	}
	for _, clean := range j.cleanups {
		clean()
	}
	if len(j.failures) != 2 || !strings.Contains(j.failures[0], "(reset_after) happened 0 of 1 times") || !strings.Contains(j.failures[1], "pge") {
		t.Fatal(j.failures)
	}
}
