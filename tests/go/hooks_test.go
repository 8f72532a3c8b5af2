package billcoretests

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"billcore"
	"billcore/model"
)

// A hook may call runtime.Goexit, as t.FailNow does: the API call still completes, and its caller gets the result.
func TestAHookThatEndsItsGoroutine(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			wrapped(order(1))(w, r)
			return
		}
		book(30)(w, r)
	})
	end := func(context.Context, billcore.Attempt) { runtime.Goexit() }
	client := connect(t, s, billcore.WithHooks(billcore.Hooks{OnRequest: end, OnResponse: end}))
	files := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	before := 0
	for i := range 40 {
		made, err := client.Subscriptions().Charge(background, "s", 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		if total, err := made.Total(); total != 100 || err != nil {
			t.Fatal(total, err)
		}
		if got := ids(t, client.Subscriptions().Orders(background, "s"), -1); len(got) != 30 {
			t.Fatal(len(got))
		}
		if i == 0 {
			before = files()
		}
	}
	if after := files(); after > before+40 {
		t.Fatalf("%d open files, then %d", before, after)
	}
}

type moment struct {
	name    string
	attempt billcore.Attempt
	value   any
}

func TestHooks(t *testing.T) {
	var calls atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("X-Request-Id", "req_9")
		wrapped(order(1))(w, r)
	})
	type key struct{}
	var told []moment
	tell := func(name string) func(context.Context, billcore.Attempt) {
		return func(ctx context.Context, a billcore.Attempt) { told = append(told, moment{name, a, ctx.Value(key{})}) }
	}
	client := connect(t, s, billcore.WithHooks(billcore.Hooks{OnRequest: tell("request"), OnResponse: tell("response"), OnRetry: tell("retry")}))
	if _, err := client.Orders().Get(context.WithValue(background, key{}, "mine"), "o"); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range told {
		names = append(names, one.name)
		if one.value != "mine" || one.attempt.Method != "GET" || one.attempt.Route != "/order/{id}" {
			t.Error(one)
		}
	}
	if !reflect.DeepEqual(names, []string{"request", "response", "retry", "request", "response"}) {
		t.Fatal(names)
	}
	last := told[4].attempt
	if last.Number != 2 || last.Status != 200 || last.RequestID != "req_9" || last.Duration <= 0 || told[1].attempt.Status != 503 {
		t.Fatal(told)
	}
}

func TestAHookThatPanicsChangesNothing(t *testing.T) {
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	s := serve(t, book(25))
	client := connect(t, s, billcore.WithHooks(billcore.Hooks{OnResponse: func(context.Context, billcore.Attempt) { panic("mine") }}))
	seen := 0
	for _, err := range client.Subscriptions().Orders(background, "s").All() {
		if err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if seen != 25 || !strings.Contains(log.String(), "a hook panicked") || !strings.Contains(log.String(), "mine") {
		t.Fatal(seen, log.String())
	}
}

func TestLogger(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	client := connect(t, s, billcore.WithMaxRetries(1),
		billcore.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	_, err := client.Orders().Get(background, "secret_id")
	code(t, err, billcore.ErrServer)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[2], "level=WARN msg=\"billcore: retry\" method=GET route=/order/{id} attempt=") ||
		strings.Contains(log.String(), "secret_id") || strings.Contains(log.String(), apiKey) {
		t.Fatal(log.String())
	}
}

func TestOptionsShowNoSecret(t *testing.T) {
	for _, option := range []billcore.Option{
		billcore.WithAPIKey("hidden"), billcore.WithProxy("http://me:hidden@x.example"), billcore.WithHeader("X-Token", "hidden"), {},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if shown := fmt.Sprintf(verb, option); strings.Contains(shown, "hidden") || !strings.Contains(shown, "Option") {
				t.Errorf("%s: %s", verb, shown)
			}
		}
	}
}

// fmt does not call methods such as String on an unexported field, for example in the caller's own configuration
// struct.
func TestOptionsWithinAnotherStructShowNoSecret(t *testing.T) {
	configuration := struct{ options []billcore.Option }{[]billcore.Option{billcore.WithAPIKey(apiKey)}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
		if text := fmt.Sprintf(verb, configuration); strings.Contains(text, apiKey) {
			t.Errorf("%s: %s", verb, text)
		}
	}
}

func TestLogsShowNoPortalURL(t *testing.T) {
	const portal = "https://portal.example/signed"
	client := connect(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		record := `{"id":"sub_1","status":"active","cancel_url":"` + portal + `"}`
		if strings.HasSuffix(r.URL.Path, "s") {
			record = `[` + record + `],"pagination":{"total":1,"count":1,"per_page":1,"current_page":1,"total_pages":1,"links":{}}`
		}
		fmt.Fprintf(w, `{"data":%s}`, record)
	}))
	one, err := client.Subscriptions().Get(background, "sub_1")
	if err != nil {
		t.Fatal(err)
	}
	event, err := model.ParseUnverified([]byte(`{"id":1,"name":"other","data":{"cancel_url":"` + portal + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := event.Data()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]any{"subscription": one, "pointer": &one, "event": event, "data": data}
	for page, err := range client.Subscriptions().List(background).Pages() {
		if err != nil || len(page.Items) != 1 {
			t.Fatal(err)
		}
		shown["page"], shown["item"] = page, page.Items[0]
	}
	for name, value := range shown {
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", name, value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", name, value)
		fmt.Fprintf(&log, "%v %+v %#v %s", value, value, value, value)
		if strings.Contains(log.String(), portal) {
			t.Errorf("%s: %s", name, log.String())
		}
		if name == "subscription" && !strings.Contains(log.String(), "sub_1") {
			t.Error(log.String())
		}
	}
}
