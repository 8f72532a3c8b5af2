// Package billcoretest makes a separate account for each test in the sandbox, a simulation of the billing service on
// localhost.
package billcoretest

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	billcore "billcore.example/go"
)

// Fields is a JSON object: the members by name.
type Fields = map[string]any

// Account is an account of the sandbox, with demo data. WebhookSecret is the signing secret of the receivers that Serve
// registers.
type Account struct {
	BaseURL, WebhookSecret string
	APIKey                 string `json:"api_key"`
	UUID                   string `json:"account"`
	IDs                    struct {
		Products      map[string]int64       // product ids by product type, such as one_time
		Subscriptions map[string]billcore.ID // subscription ids by reference id, such as demo-active
	}
	Lenient bool // if true, requests may have parameters that the service does not have
	t       testing.TB
	sandbox *running
}

// NewAccount makes an account with these options in the sandbox whose control URL is in the variable
// BILLCORE_SANDBOX_CONTROL. If the variable is not set, NewAccount starts a sandbox, which stops when the test program
// ends. When the test ends, a cleanup function deletes the account. The cleanup function fails the test if a fault of
// the account happened less often than its times (a fault with a probability: never), unless the fault is optional; and
// if a request had parameters that are unknown to the service, unless Lenient is true.
//
// The options are those of the control route POST accounts, such as Fields{"settlement": "manual"}. Without the option
// event_payload, events have all fields.
func NewAccount(t testing.TB, options ...Fields) *Account {
	t.Helper()
	found, err := sandbox()
	if err != nil {
		t.Fatal(err)
	}
	a := &Account{t: t, sandbox: found}
	fields := Fields{"event_payload": "full"}
	for _, each := range options {
		maps.Copy(fields, each)
	}
	a.sandbox.call(t, "POST", "/accounts", a, billcore.RequestJSON(fields))
	a.BaseURL, a.WebhookSecret = found.origin+a.UUID, strings.ReplaceAll(a.UUID, "-", "")
	t.Cleanup(func() {
		var state struct {
			Faults  []Fields
			Unknown []Fields `json:"unknown_parameters"`
		}
		a.sandbox.call(t, "GET", "/state", &state, billcore.RequestQuery("account", a.UUID))
		for _, fault := range state.Faults {
			// The state lists the faults that can still happen. A fault with a probability must have happened at all.
			if fault["optional"] == false && (fault["fired"] == 0.0 || fault["probability"] == 1.0) {
				t.Errorf("the fault %v (%v) happened %v of %v times: %v matched, and it begins with number %v",
					fault["id"], fault["kind"], fault["fired"], fault["times"], fault["seen"], fault["nth"])
			}
		}
		for _, each := range state.Unknown {
			if !a.Lenient {
				t.Errorf("%v got the parameter %v, which it does not have", each["operation"], each["name"])
			}
		}
		a.sandbox.call(t, "DELETE", "/accounts/"+a.UUID, a)
	})
	return a
}

// Serve runs a webhook receiver until the test ends, and registers the receiver for the account's events.
func (a *Account) Serve(receiver http.Handler) {
	a.serve(receiver)
}

// Post calls a control route of the sandbox for this account and returns the answer. If the sandbox refuses the call,
// the test fails at once.
func (a *Account) Post(route string, fields Fields) (answer Fields) {
	a.t.Helper()
	fields["account"] = a.UUID
	a.sandbox.call(a.t, "POST", "/"+route, &answer, billcore.RequestJSON(fields))
	return answer
}
