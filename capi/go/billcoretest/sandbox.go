package billcoretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	billcore "billcore.example/go"
)

type running struct {
	origin  string // the part of the base URLs before the account's UUID
	control *billcore.Client
	process *exec.Cmd // holds the sandbox's stdin pipe open until the test program ends; then the sandbox stops
}

// sandbox returns the sandbox whose control URL is in the variable BILLCORE_SANDBOX_CONTROL. If
// BILLCORE_SANDBOX_CONTROL is not set, the function starts a sandbox, which stops when the test program ends.
var sandbox = sync.OnceValues(func() (*running, error) {
	process, url := exec.Command("billcore-sandbox", "--exit-with-stdin"), os.Getenv("BILLCORE_SANDBOX_CONTROL")
	if url == "" {
		process.Stderr = os.Stderr
		_, err := process.StdinPipe()
		stdout, err2 := process.StdoutPipe()
		if err = errors.Join(err, err2, process.Start()); err != nil {
			return nil, fmt.Errorf("install billcore-sandbox, or set BILLCORE_SANDBOX_CONTROL: %w", err)
		}
		var ready struct {
			URL string `json:"control_url"`
		}
		if err = json.NewDecoder(stdout).Decode(&ready); err != nil {
			return nil, fmt.Errorf("billcore-sandbox did not start (its stderr says why): %w", err)
		}
		url = ready.URL
	}
	control, err := billcore.NewClient(billcore.WithBaseURL(url), billcore.WithAPIKey("unused"), billcore.WithNoTimeout())
	return &running{strings.TrimSuffix(url, "_sandbox"), control, process}, err
})

// call calls a control route of the sandbox and decodes the answer. If the sandbox refuses the call, the test fails at
// once.
func (r *running) call(t testing.TB, method, path string, into any, options ...billcore.RequestOption) {
	t.Helper()
	answer, err := r.control.Request(context.Background(), method, path, options...)
	if err == nil {
		err = answer.JSON(into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
