package billcoretest

import (
	"encoding/json"
	"time"

	billcore "billcore.example/go"
)

// Effect is a row of the ledger. Fields has all its members, also those that depend on its kind, such as order_id.
type Effect struct {
	ID     int64
	At     time.Time // on the account's clock
	Kind   string    // such as charge
	Fields Fields    `json:"-"`
}

func (e *Effect) UnmarshalJSON(text []byte) error {
	type plain Effect
	if err := json.Unmarshal(text, (*plain)(e)); err != nil {
		return err
	}
	return json.Unmarshal(text, &e.Fields)
}

// Request is a request as the service received it. Operation is a name such as subscriptions.charge, or "" if the path or
// its method is unknown. Status is 0 if there was no complete answer. Fault is the kind of the fault that happened.
// Unknown has the names of parameters that the operation does not have.
type Request struct {
	ID                              int64
	At                              time.Time
	Operation, Method, Target, Body string
	Headers                         [][2]string
	Status                          int
	Fault                           string
	Unknown                         []string
}

// Delivery is the delivery of an event to a receiver. Duplicates have the same ID, but another Seq. State is pending,
// on_hold, delivered, failed, held_back or dropped.
type Delivery struct {
	ID                                         json.Number
	Seq                                        int64
	EndpointID                                 int64 `json:"endpoint_id"`
	Event, URL, State, Reason, Body, Signature string
	Faults                                     []string
	Attempts                                   []Attempt
}

// Attempt is one attempt of a delivery. Status is that of the receiver's answer; if it is 0, Error says why there is no
// answer. Fault is the kind of the fault that happened.
type Attempt struct {
	At           time.Time
	Status       int
	Error, Fault string
	AnswerBody   string `json:"answer_body"`
}

// Object is a subscription, which has a Status, or an order, which has a State.
type Object struct {
	ID            billcore.ID
	Status, State string
}

// Ledger returns the effects of a kind, such as "charge", oldest first. An empty kind means every effect.
func (a *Account) Ledger(kind string) []Effect {
	a.t.Helper()
	return read[Effect](a, "ledger", "kind", kind, "effects")
}

// Requests returns the requests of an operation, such as "charge", oldest first; an empty operation means every one.
func (a *Account) Requests(operation string) []Request {
	a.t.Helper()
	return read[Request](a, "requests", "operation", operation, "requests")
}

// Deliveries returns the deliveries of an event, such as "order.paid", oldest first; an empty event means every one.
func (a *Account) Deliveries(event string) []Delivery {
	a.t.Helper()
	return read[Delivery](a, "deliveries", "event", event, "deliveries")
}

// WaitRequests waits until the service has answered count requests of this operation ("": of any), and returns them. If
// they do not come within 30 s, the test fails with a message that says which requests there are.
func (a *Account) WaitRequests(operation string, count int) []Request {
	a.t.Helper()
	return wait[Request](a, Fields{"request": match("operation", operation), "count": count}, "requests")
}

// WaitDeliveries waits until count deliveries of events with this name ("": of any event) have arrived, and returns
// them. The test fails at once if a receiver did not accept one, and after 30 s if there are too few.
func (a *Account) WaitDeliveries(event string, count int) []Delivery {
	a.t.Helper()
	return a.delivered(match("event", event), count)
}

func (a *Account) delivered(wanted Fields, count int) []Delivery {
	a.t.Helper()
	found := wait[Delivery](a, Fields{"delivery": wanted, "count": count, "until_failed": true}, "deliveries")
	for _, each := range found {
		if each.State != "delivered" {
			last := Attempt{Error: each.Reason}
			if len(each.Attempts) > 0 {
				last = each.Attempts[len(each.Attempts)-1]
			}
			a.t.Fatalf("%s to %s: %s after %d attempts: %d %s %s", each.Event, each.URL, each.State, len(each.Attempts),
				last.Status, last.AnswerBody, last.Error)
		}
	}
	return found
}

// Fault makes the next matching requests or events fail, and returns the fault's id. The sandbox's README has the kinds
// of faults and their fields; nil: no fields.
func (a *Account) Fault(kind string, fields Fields) int64 {
	a.t.Helper()
	sent := Fields{"kind": kind}
	for name, value := range fields {
		sent[name] = value
	}
	id, _ := a.Post("faults", sent)["id"].(float64)
	return int64(id)
}

// Advance moves the account's clock forward. When Advance returns, everything that became due has happened, and the
// first attempts of its deliveries are done.
func (a *Account) Advance(days float64) {
	a.t.Helper()
	a.Post("clock", Fields{"days": days})
}

// Trigger runs a scenario, such as "renewal-fails", on a new subscription or on an existing one. It returns the
// subscription and the last order of the scenario; an Object without an id stands for none.
func (a *Account) Trigger(name string, on ...billcore.ID) (subscription, order Object) {
	a.t.Helper()
	fields := Fields{"name": name, "account": a.UUID}
	for _, id := range on {
		fields["on"] = id
	}
	var answer struct{ Subscription, Order Object }
	a.sandbox.call(a.t, "POST", "/trigger", &answer, billcore.RequestJSON(fields))
	return answer.Subscription, answer.Order
}

func match(name, value string) Fields {
	if value == "" {
		return Fields{}
	}
	return Fields{name: value}
}

func read[T any](a *Account, route, filter, value, member string) []T {
	a.t.Helper()
	options := []billcore.RequestOption{billcore.RequestQuery("account", a.UUID)}
	if value != "" {
		options = append(options, billcore.RequestQuery(filter, value))
	}
	return fetch[T](a, member, "GET", "/"+route, options...)
}

func wait[T any](a *Account, fields Fields, member string) []T {
	a.t.Helper()
	fields["account"] = a.UUID
	return fetch[T](a, member, "POST", "/wait", billcore.RequestJSON(fields))
}

func fetch[T any](a *Account, member, method, path string, options ...billcore.RequestOption) (found []T) {
	a.t.Helper()
	var answer map[string]json.RawMessage
	a.sandbox.call(a.t, method, path, &answer, options...)
	if err := json.Unmarshal(answer[member], &found); err != nil {
		a.t.Fatalf("the sandbox has another version than this package: %v", err)
	}
	return found
}
