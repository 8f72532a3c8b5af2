package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"billcore/model"
	"billcore/webhook"
)

// inbox handles webhook deliveries: it verifies the raw bytes, parses them, drops duplicates, and keeps the other
// events.
type inbox struct {
	mutex      sync.Mutex
	bodies     [][]byte // bodies of the kept events, as input for webhook.ParseUnverified
	duplicates []model.ID
	refused    []string
	claimed    map[string]bool
	server     *http.Server
	address    string
}

func newInbox() *inbox {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	made := &inbox{claimed: map[string]bool{}, address: listener.Addr().String()}
	made.server = &http.Server{ReadTimeout: 30 * time.Second}
	go func() { _ = made.server.Serve(listener) }()
	return made
}

func (i *inbox) url() string { return "http://" + i.address + "/webhooks" }

// trust sets the endpoint's secret, which the service creates when the URL is registered.
func (i *inbox) trust(secret string) {
	verifier := must(webhook.NewVerifier([]byte(secret)))
	i.server.Handler = verifier.Handler(i.receive, webhook.WithOnRefused(func(_ *http.Request, err error) {
		i.mutex.Lock()
		defer i.mutex.Unlock()
		var refused *webhook.Error
		if errors.As(err, &refused) {
			i.refused = append(i.refused, refused.Reason.String())
		}
	}))
}

func (i *inbox) receive(w http.ResponseWriter, _ *http.Request, event *webhook.Event) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	id, account := must(event.ID()), must(event.Account())
	key := fmt.Sprintf("%d %s", account, id)
	// With a database, record the event and apply its effect in one transaction. Every test.hook has the id 0, so it
	// never counts as a duplicate.
	if event.Type() != webhook.EventTestHook && i.claimed[key] {
		i.duplicates = append(i.duplicates, id)
		return
	}
	i.claimed[key] = true
	i.bodies = append(i.bodies, must(event.Raw()))
	if len(i.bodies) == 1 {
		// Only in this example: answer 500 to the first event although it was kept, so that the service delivers it
		// again.
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// events waits until count events were kept and one duplicate was dropped, for at most 30 seconds, and returns the
// kept events.
func (i *inbox) events(count int) (found []*webhook.Event) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		i.mutex.Lock()
		enough := len(i.bodies) >= count && len(i.duplicates) >= 1
		i.mutex.Unlock()
		if enough {
			break
		}
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	for _, body := range i.bodies {
		found = append(found, must(webhook.ParseUnverified(body)))
	}
	return found
}
