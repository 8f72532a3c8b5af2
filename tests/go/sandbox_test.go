package billcoretests

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"billcore"
	"billcore/billcoretest"
	"billcore/webhook"
)

// shop books the total of a paid order when the order's event arrives for the first time.
type shop struct {
	mutex           sync.Mutex
	claimed         map[billcore.ID]bool
	arrived, booked int64
}

func (s *shop) receive(w http.ResponseWriter, _ *http.Request, event *webhook.Event) {
	if event.Type() != webhook.EventOrderPaid {
		return
	}
	id, err := event.ID()
	order, err2 := event.Order()
	total, err3 := order.Total()
	if err = errors.Join(err, err2, err3); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.arrived++
	if !s.claimed[id] {
		s.claimed[id] = true
		s.booked += total
	}
}

// open makes an account with a client and a receiver.
func open(t *testing.T) (*billcoretest.Account, billcore.Subscriptions, *shop) {
	t.Helper()
	account, receiver := billcoretest.NewAccount(t), &shop{claimed: map[billcore.ID]bool{}}
	verifier, err := webhook.NewVerifier([]byte(account.WebhookSecret))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(verifier.Close)
	account.Serve(verifier.Handler(receiver.receive))
	client, err := billcore.NewClient(billcore.WithBaseURL(account.BaseURL), billcore.WithAPIKey(account.APIKey))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return account, client.Subscriptions(), receiver
}

// check waits until `count` events order.paid were accepted, and compares the totals that the shop has booked with the
// expected ones.
func (s *shop) check(t *testing.T, account *billcoretest.Account, count, booked int64) {
	t.Helper()
	paid := billcoretest.Fields{"event": "order.paid", "state": "delivered"}
	account.Post("wait", billcoretest.Fields{"delivery": paid, "count": count})
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.arrived != count || s.booked != booked {
		t.Fatal(s.arrived, s.booked)
	}
}

func TestAChargeIsBooked(t *testing.T) {
	account, subscriptions, shop := open(t)
	id, product := account.IDs.Subscriptions["demo-active"], account.IDs.Products["one_time"]
	if _, err := subscriptions.Charge(background, id, product, 1500); err != nil {
		t.Fatal(err)
	}
	shop.check(t, account, 1, 1500)
}

func TestADuplicateIsBookedOnce(t *testing.T) {
	account, subscriptions, shop := open(t)
	id, product := account.IDs.Subscriptions["demo-active"], account.IDs.Products["one_time"]
	account.Post("faults", billcoretest.Fields{"kind": "event_duplicate", "event": "order.paid", "concurrent": true})
	if _, err := subscriptions.Charge(background, id, product, 1500); err != nil {
		t.Fatal(err)
	}
	shop.check(t, account, 2, 1500)
}

func TestALateChargeIsFound(t *testing.T) {
	account, subscriptions, shop := open(t)
	id, product := account.IDs.Subscriptions["demo-active"], account.IDs.Products["one_time"]
	account.Post("faults", billcoretest.Fields{"kind": "late", "operation": "charge", "delay": 60})
	_, charge := subscriptions.Charge(background, id, product, 1500)
	if !errors.Is(charge, billcore.ErrOutcomeUnknown) {
		t.Fatal(charge)
	}
	if found, err := subscriptions.FindCharges(background, charge); len(found) != 0 || err != nil {
		t.Fatal(found, err)
	}
	account.Post("clock", billcoretest.Fields{"seconds": 61})
	found, err := subscriptions.FindCharges(background, charge)
	if len(found) != 1 || err != nil {
		t.Fatal(found, err)
	}
	if total, err := found[0].Total(); total != 1500 || err != nil {
		t.Fatal(total, err)
	}
	shop.check(t, account, 1, 1500)
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
	client, err := billcore.NewClient(billcore.WithBaseURL(account.BaseURL), billcore.WithAPIKey(account.APIKey))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if _, err = client.Request(background, "GET", "/products", billcore.RequestQuery("pge", "2")); err != nil {
		t.Fatal(err)
	}
	for _, clean := range j.cleanups {
		clean()
	}
	if len(j.failures) != 2 || !strings.Contains(j.failures[0], "(reset_after)") || !strings.Contains(j.failures[1], "pge") {
		t.Fatal(j.failures)
	}
}
