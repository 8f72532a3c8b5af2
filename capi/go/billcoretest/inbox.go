package billcoretest

import (
	"net/http"
	"net/http/httptest"
	"sync"

	"billcore.example/go/webhook"
)

// Inbox is a webhook receiver that keeps the events that it accepts: see Account.Receive.
type Inbox struct {
	account  *Account
	endpoint any
	mutex    sync.Mutex
	accepted [][]byte
}

// Receive runs a webhook receiver until the test ends, and registers it for the account's events. The receiver verifies
// each event, and calls handle, which returns the status of the answer; if handle is nil, the status is 204. The inbox
// keeps the events whose status is 2xx; the sandbox sends the other events again. handle runs on another goroutine than
// the test, perhaps after the test has failed, and the event is closed when handle returns.
func (a *Account) Receive(handle func(event *webhook.Event) (status int)) *Inbox {
	a.t.Helper()
	verifier, err := webhook.NewVerifier([]byte(a.WebhookSecret))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(verifier.Close)
	inbox := &Inbox{account: a}
	inbox.endpoint = a.serve(verifier.Handler(func(w http.ResponseWriter, _ *http.Request, event *webhook.Event) {
		status := http.StatusNoContent
		if handle != nil {
			status = handle(event)
		}
		if raw, err := event.Raw(); err == nil && status/100 == 2 {
			inbox.mutex.Lock()
			inbox.accepted = append(inbox.accepted, raw)
			inbox.mutex.Unlock()
		}
		w.WriteHeader(status)
	}))
	return inbox
}

// serve runs a receiver until the test ends, registers it, and returns the id of its endpoint.
func (a *Account) serve(receiver http.Handler) any {
	a.t.Helper()
	server := httptest.NewServer(receiver)
	a.t.Cleanup(server.Close)
	return a.Post("endpoints", Fields{"url": server.URL, "secret": a.WebhookSecret})["id"]
}

// Events returns the accepted events that have this name, in the order of their arrival, with their duplicates.
// An empty name means every event.
func (i *Inbox) Events(name string) (found []*webhook.Event) {
	i.account.t.Helper()
	i.mutex.Lock()
	defer i.mutex.Unlock()
	for _, raw := range i.accepted {
		event, err := webhook.ParseUnverified(raw) // verified on arrival
		if err != nil {
			i.account.t.Fatal(err)
		}
		if its, err := event.Name(); err == nil && (name == "" || its == name) {
			found = append(found, event)
		}
	}
	return found
}

// Wait waits until the receiver has accepted count events with this name ("": any), and returns all of them. The test
// fails at once if the sandbox has given up to send one, and after 30 s if there are too few.
func (i *Inbox) Wait(name string, count int) []*webhook.Event {
	i.account.t.Helper()
	wanted := match("event", name)
	wanted["endpoint_id"] = i.endpoint
	i.account.delivered(wanted, count)
	return i.Events(name)
}
