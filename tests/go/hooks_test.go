package billcoretests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	billcore "billcore.example/go"
	"billcore.example/go/model"
)

// `ends` counts the attempts of calls and records how each attempt ended, through the hooks that ends.hooks returns.
type ends struct {
	mutex sync.Mutex
	begun int
	ended []string
	atEnd func()
}

func (e *ends) hooks(t *testing.T) billcore.Hooks {
	return billcore.Hooks{
		OnRequest: func(_ context.Context, a billcore.Attempt) {
			e.mutex.Lock()
			defer e.mutex.Unlock()
			e.begun++
			if a.Sent || a.OutcomeUnknown || a.Path != "" {
				t.Error(a)
			}
		},
		OnResponse: func(_ context.Context, a billcore.Attempt) {
			e.mutex.Lock()
			failure := "none"
			if a.Failure != 0 {
				failure = a.Failure.String()
			}
			e.ended = append(e.ended, fmt.Sprintf("%d %s %t %t %s", a.Status, failure, a.Sent, a.OutcomeUnknown, a.Path))
			e.mutex.Unlock()
			if e.atEnd != nil {
				e.atEnd()
			}
		},
	}
}

func (e *ends) count() (begun, ended int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.begun, len(e.ended)
}

const givenUp = "0 interrupted true true /subscription/hang/order"

func charge(ctx context.Context, client *billcore.Client, id billcore.ID) {
	_, _ = client.Subscriptions().Charge(ctx, id, 1, 1)
}

// `ways` has ways in which a call can end. The hooks record the last attempt of the call as a text that begins with
// `last`.
var ways = map[string]struct {
	run  func(t *testing.T, s *service, client *billcore.Client)
	last string
}{
	"an answer": {func(t *testing.T, _ *service, c *billcore.Client) {
		made := must(c.Subscriptions().Charge(background, "s", 1, 100))
		if total, err := made.Total(); total != 100 || err != nil {
			t.Fatal(total, err)
		}
	}, "200 none true false "},
	"unknown": {func(_ *testing.T, _ *service, c *billcore.Client) { charge(background, c, "down") }, "503 none true true "},
	"a time-out": {func(t *testing.T, _ *service, c *billcore.Client) {
		short := must(c.With(billcore.WithTimeout(200 * time.Millisecond)))
		await(t, "a charge is sent before its time-out", func() bool { // on a busy machine the first may not be
			_, err := short.Subscriptions().Charge(background, "hang", 1, 1)
			var e *billcore.Error
			if !errors.As(err, &e) || !e.Timeout() {
				t.Fatal(err)
			}
			return errors.Is(err, billcore.ErrOutcomeUnknown)
		})
	}, "0 timeout true true "},
	"cancelled": {func(t *testing.T, s *service, c *billcore.Client) {
		ctx, cancel := context.WithCancel(background)
		done := make(chan struct{})
		go func() {
			defer close(done) // also if a hook ends this goroutine
			charge(ctx, c, "hang")
		}()
		await(t, "the request arrives", func() bool { return len(s.sent()) == 1 })
		cancel()
		<-done
	}, givenUp},
	"a list that is left": {func(_ *testing.T, _ *service, c *billcore.Client) {
		twoPages(c.Subscriptions().Orders(background, "s"), func() {})
	}, "0 interrupted"},
	"a list that is closed": {func(_ *testing.T, _ *service, c *billcore.Client) {
		list := c.Subscriptions().Orders(background, "s")
		twoPages(list, list.Close)
	}, "0 interrupted"},
}

// twoPages reads two pages of a list, calls `then`, and stops while the list is prefetching more pages.
func twoPages(list *billcore.List[billcore.Order], then func()) {
	pages := 0
	for range list.Pages() {
		if pages++; pages == 2 {
			then()
			break
		}
	}
}

func pagesThatHang(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, "/down/"):
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Query().Get("page") == "1", r.URL.Query().Get("page") == "2":
		book(60)(w, r)
	case r.URL.Query().Has("page"):
		<-r.Context().Done()
	default:
		wrapped(order(1))(w, r)
	}
}

// The hooks call runtime.Goexit, as t.FailNow does: the call still completes, and its caller gets the result.
func TestEachAttemptEndsOnce(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := serve(t, pagesThatHang)
			told := ends{atEnd: func() { runtime.Goexit() }}
			way.run(t, s, connect(t, s.URL, billcore.WithMaxRetries(0), billcore.WithHooks(told.hooks(t))))
			await(t, "each is told", func() bool { begun, ended := told.count(); return begun == ended && begun > 0 })
			if last := told.ended[len(told.ended)-1]; !strings.HasPrefix(last, way.last) {
				t.Fatal(told.ended)
			}
		})
	}
}

func TestAHookMayCallAtTheEnd(t *testing.T) {
	s := serve(t, pagesThatHang)
	client := connect(t, s.URL)
	var told ends
	told.atEnd = func() {
		if _, err := client.Orders().Get(background, "o"); err != nil {
			t.Error(err)
		}
	}
	hooked := must(client.With(billcore.WithHooks(told.hooks(t))))
	ways["cancelled"].run(t, s, hooked)
	if !reflect.DeepEqual(told.ended, []string{givenUp}) {
		t.Fatal(told.ended)
	}
}

// If a charge was made, Charge returns the order or an unknown outcome, even if the context is cancelled while the
// answer arrives.
func TestAContextCancelledWithTheAnswerHidesNoCharge(t *testing.T) {
	const calls = 2000
	cancels := make(chan context.CancelFunc, 1)
	var answers atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		(<-cancels)()
		wait := time.Duration(answers.Add(1)%60) * time.Microsecond
		for cancelled := time.Now(); time.Since(cancelled) < wait; { // a busy loop: even a short sleep is longer than `wait`
		}
		wrapped(order(1))(w, r)
	})
	var told ends
	client := connect(t, s.URL, billcore.WithHooks(told.hooks(t)))
	given, unknown := 0, 0
	for range calls {
		ctx, cancel := context.WithCancel(background)
		cancels <- cancel
		made, err := client.Subscriptions().Charge(ctx, "s", 1, 100)
		switch {
		case err == nil:
			if total, err := made.Total(); total != 100 || err != nil {
				t.Fatal(total, err)
			}
			given++
		case errors.Is(err, billcore.ErrOutcomeUnknown) && errors.Is(err, context.Canceled):
			unknown++
		default:
			t.Fatal(err)
		}
	}
	if sent := len(s.sent()); given+unknown != calls || sent != calls {
		t.Fatal(given, unknown, sent)
	}
	if begun, ended := told.count(); begun != calls || ended != calls {
		t.Fatal(begun, ended)
	}
	for _, end := range told.ended {
		if end != "200 none true false " && end != strings.Replace(givenUp, "hang", "s", 1) {
			t.Fatal(end)
		}
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
	client := connect(t, s.URL, billcore.WithHooks(billcore.Hooks{OnRequest: tell("request"), OnResponse: tell("response"), OnRetry: tell("retry")}))
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
	client := connect(t, s.URL, billcore.WithHooks(billcore.Hooks{OnResponse: func(context.Context, billcore.Attempt) { panic("mine") }}))
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
	logged := billcore.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	_, err := connect(t, s.URL, billcore.WithMaxRetries(1), logged).Orders().Get(background, "secret_id")
	code(t, err, billcore.ErrServer)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[2], "level=WARN msg=\"billcore: retry\" method=GET route=/order/{id} attempt=") ||
		strings.Contains(log.String(), "secret_id") || strings.Contains(log.String(), apiKey) {
		t.Fatal(log.String())
	}
	log.Reset()
	s = serve(t, pagesThatHang)
	ways["cancelled"].run(t, s, connect(t, s.URL, logged))
	lines = strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 || strings.Contains(log.String(), apiKey) {
		t.Fatal(log.String())
	}
	for _, part := range []string{
		"level=WARN", "it may or may not have happened", "method=POST", "route=/subscription/{id}/order", "attempt=1",
		"failure=interrupted", "sent=true", "outcome_unknown=true", "path=/subscription/hang/order",
	} {
		if !strings.Contains(lines[2], part) {
			t.Error(part, lines)
		}
	}
}

func TestOptionsShowNoSecret(t *testing.T) {
	for _, option := range []billcore.Option{
		billcore.WithAPIKey(apiKey), billcore.WithProxy("http://me:" + apiKey + "@x.example"), billcore.WithHeader("X-Token", apiKey), {},
	} {
		// fmt does not call methods such as String on an unexported field, for example in the caller's own configuration
		// struct.
		configuration := struct{ options []billcore.Option }{[]billcore.Option{option}}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
			shown := fmt.Sprintf(verb, option)
			if within := fmt.Sprintf(verb, configuration); strings.Contains(shown+within, apiKey) || !strings.Contains(shown, "Option") {
				t.Errorf("%s: %s %s", verb, shown, within)
			}
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
	}).URL)
	one := must(client.Subscriptions().Get(background, "sub_1"))
	event := must(model.ParseUnverified([]byte(`{"id":1,"name":"other","data":{"cancel_url":"` + portal + `"}}`)))
	data := must(event.Data())
	shown := map[string]any{"fields": billcore.SubscriptionFields{CancelURL: portal}, "subscription": one, "pointer": &one, "event": event, "data": data}
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
