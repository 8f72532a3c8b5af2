// Package billcoretest gives each test an account of its own in the sandbox, which is the billing service on localhost.
package billcoretest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"billcore"
)

// Fields are the members of a JSON object.
type Fields = map[string]any

// Account is an account with demo data. WebhookSecret is the secret of the receivers that Serve registers.
type Account struct {
	BaseURL, WebhookSecret string
	APIKey                 string `json:"api_key"`
	UUID                   string `json:"account"`
	IDs                    struct {
		Products      map[string]int64       // by type, such as one_time
		Subscriptions map[string]billcore.ID // by reference id, such as demo-active
	}
	Lenient bool // allows parameters that the service does not have
	t       testing.TB
	sandbox *running
}

// NewAccount makes an account in the sandbox of BILLCORE_SANDBOX_CONTROL, or in one that ends with the test program.
// Its cleanup deletes the account when the test ends. The cleanup fails the test if a fault of the account never
// happened, unless that fault is optional, or if a request had parameters that the service does not have.
func NewAccount(t testing.TB) *Account {
	t.Helper()
	found, err := sandbox()
	if err != nil {
		t.Fatal(err)
	}
	a := &Account{t: t, sandbox: found}
	a.sandbox.call(t, "POST", "/accounts", a, billcore.RequestJSON(Fields{}))
	a.BaseURL, a.WebhookSecret = found.origin+a.UUID, strings.ReplaceAll(a.UUID, "-", "")
	t.Cleanup(func() {
		var state struct {
			Faults  []Fields
			Unknown []Fields `json:"unknown_parameters"`
		}
		a.sandbox.call(t, "GET", "/state", &state, billcore.RequestQuery("account", a.UUID))
		for _, fault := range state.Faults {
			if fault["fired"] == 0.0 && fault["optional"] == false {
				t.Errorf("the fault %v (%v) never happened: %v matched, and it begins with number %v",
					fault["id"], fault["kind"], fault["seen"], fault["nth"])
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

// Serve runs a receiver until the test ends, and registers it for the account's events.
func (a *Account) Serve(receiver http.Handler) {
	server := httptest.NewServer(receiver)
	a.t.Cleanup(server.Close)
	a.Post("endpoints", Fields{"url": server.URL, "secret": a.WebhookSecret})
}

// Post calls a control route for this account and returns the answer. The test ends if the sandbox refuses the call.
func (a *Account) Post(route string, fields Fields) (answer Fields) {
	a.t.Helper()
	fields["account"] = a.UUID
	a.sandbox.call(a.t, "POST", "/"+route, &answer, billcore.RequestJSON(fields))
	return answer
}
