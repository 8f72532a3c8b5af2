package billcoretests

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	billcore "billcore.example/go"
	"billcore.example/go/billcoretest"
	"billcore.example/go/webhook"
)

func TestALateChargeIsBooked(t *testing.T) {
	account := billcoretest.NewAccount(t)
	var booked atomic.Int64
	inbox := account.Receive(func(event *webhook.Event) int {
		if order, err := event.Order(); err == nil && event.Type() == webhook.EventOrderPaid {
			total, _ := order.Total()
			booked.Add(total)
		}
		return http.StatusNoContent
	})
	client := client(t, account)
	id, product := account.IDs.Subscriptions["demo-active"], account.IDs.Products["one_time"]
	account.Fault("late", billcoretest.Fields{"operation": "charge", "delay": 60})
	_, charge := client.Subscriptions().Charge(background, id, product, 1500)
	if e := code(t, charge, billcore.ErrOutcomeUnknown); e.AttemptedAt.IsZero() {
		t.Fatal(charge)
	}
	account.Advance(61.0 / 86400)
	found := must(client.Subscriptions().FindCharges(background, fmt.Errorf("wrapped: %w", charge)))
	runtime.GC() // the garbage collection must not free the page that the orders use
	if len(found) != 1 || must(found[0].Total()) != 1500 {
		t.Fatal(found)
	}
	if paid := inbox.Wait("order.paid", 1); len(paid) != 1 || booked.Load() != 1500 {
		t.Fatal(booked.Load())
	}
}

func TestAnInboxKeepsWhatItAcceptsAndTheAccountShowsWhatHappened(t *testing.T) {
	account := billcoretest.NewAccount(t)
	var attempts atomic.Int64
	inbox := account.Receive(func(*webhook.Event) int {
		if attempts.Add(1) <= 2 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	account.Fault("event_duplicate", billcoretest.Fields{"event": "order.paid"})
	subscription, order := account.Trigger("charge", account.IDs.Subscriptions["demo-active"])
	if subscription.Status != "active" || order.State != "paid" {
		t.Fatal(subscription, order)
	}
	paid := inbox.Wait("order.paid", 2)
	if first, second := must(paid[0].ID()), must(paid[1].ID()); len(paid) != 2 || first != second {
		t.Fatal(paid)
	}
	if its := must(must(paid[0].Order()).ID()); its != order.ID {
		t.Fatal(its, order)
	}
	if inbox.Wait("", 3); len(inbox.Events("")) != 3 || len(inbox.Events("order.confirmed")) != 1 {
		t.Fatal(inbox.Events(""))
	}
	if charges := account.Ledger("charge"); len(charges) != 1 || charges[0].Fields["order_id"] != string(order.ID) {
		t.Fatal(charges)
	}
	statuses := map[int]int{}
	for _, delivery := range account.WaitDeliveries("", 3) {
		for _, attempt := range delivery.Attempts {
			statuses[attempt.Status]++
		}
	}
	if statuses[503] != 2 || statuses[204] != 3 || len(account.Deliveries("order.paid")) != 2 {
		t.Fatal(statuses)
	}
	client := client(t, account)
	must(client.Products().Get(background, account.IDs.Products["one_time"]))
	if read := account.WaitRequests("products.get", 1); read[0].Status != 200 || read[0].Method != "GET" || len(account.Requests("charge")) != 0 {
		t.Fatal(read)
	}
}

func TestAWaitForAnEventThatIsRefusedFailsTheTest(t *testing.T) {
	j := &judged{TB: t}
	account := billcoretest.NewAccount(j)
	inbox := account.Receive(func(*webhook.Event) int { return http.StatusTeapot })
	account.Post("test-hook", billcoretest.Fields{})
	endpoint := account.Deliveries("test.hook")[0].EndpointID
	account.Post(fmt.Sprintf("endpoints/%d", endpoint), billcoretest.Fields{"retry_schedule": []float64{0.1}})
	func() {
		defer func() { _ = recover() }()
		inbox.Wait("test.hook", 2) // ends with the first failure
	}()
	for _, clean := range j.cleanups {
		clean()
	}
	if len(j.failures) != 1 || !strings.Contains(j.failures[0], "failed after 2 attempts: 418") || len(inbox.Events("")) != 0 {
		t.Fatal(j.failures)
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

func (j *judged) Fatal(arguments ...any) {
	j.Errorf("%s", fmt.Sprint(arguments...))
	panic(j)
}
func (j *judged) Fatalf(format string, arguments ...any) {
	j.Errorf(format, arguments...)
	panic(j)
}
func (j *judged) Cleanup(f func()) { j.cleanups = append(j.cleanups, f) }
func (j *judged) Errorf(format string, arguments ...any) {
	j.failures = append(j.failures, fmt.Sprintf(format, arguments...))
}

func TestAFaultThatNeverHappensAndAnUnknownParameterFailTheTest(t *testing.T) {
	j := &judged{TB: t}
	account := billcoretest.NewAccount(j)
	account.Fault("reset_after", billcoretest.Fields{"operation": "charge"})
	account.Fault("reset_after", billcoretest.Fields{"operation": "cancel", "optional": true})
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
