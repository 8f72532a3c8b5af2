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
	"testing"
	"time"

	"billcore"
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

// `ways` has each way in which a call can end. The hooks record the last attempt of the call as a text that begins
// with `last`.
var ways = map[string]struct {
	run  func(t *testing.T, s *service, client *billcore.Client)
	last string
}{
	"an answer": {func(_ *testing.T, _ *service, c *billcore.Client) { charge(background, c, "s") }, "200 none true false "},
	"refused":   {func(_ *testing.T, _ *service, c *billcore.Client) { charge(background, c, "refused") }, "402 none true false "},
	"unknown":   {func(_ *testing.T, _ *service, c *billcore.Client) { charge(background, c, "down") }, "503 none true true "},
	"a time-out": {func(t *testing.T, _ *service, c *billcore.Client) {
		short, err := c.With(billcore.WithTimeout(200 * time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		await(t, "a charge is sent before its time-out", func() bool { // on a busy machine the first may not be
			_, err := short.Subscriptions().Charge(background, "hang", 1, 1)
			return errors.Is(err, billcore.ErrOutcomeUnknown)
		})
	}, "0 timeout true true "},
	"cancelled": {func(t *testing.T, s *service, c *billcore.Client) {
		ctx, cancel := context.WithCancel(background)
		done := make(chan struct{})
		go func() {
			charge(ctx, c, "hang")
			close(done)
		}()
		await(t, "the request arrives", func() bool { return len(s.sent()) == 1 })
		cancel()
		<-done
	}, givenUp},
	"a read": {func(t *testing.T, s *service, c *billcore.Client) {
		ctx, cancel := context.WithCancel(background)
		done := make(chan struct{})
		go func() {
			_, _ = c.Orders().Get(ctx, "hang")
			close(done)
		}()
		await(t, "the request arrives", func() bool { return len(s.sent()) == 1 })
		cancel()
		<-done
	}, "0 interrupted true false "},
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
	case strings.Contains(r.URL.Path, "/refused/"):
		w.WriteHeader(http.StatusPaymentRequired)
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

func TestEachAttemptEndsOnce(t *testing.T) {
	for name, way := range ways {
		for _, panics := range []bool{false, true} {
			t.Run(fmt.Sprint(name, panics), func(t *testing.T) {
				s := serve(t, pagesThatHang)
				var told ends
				if panics {
					told.atEnd = func() { runtime.Goexit() }
				}
				client := connect(t, s, billcore.WithMaxRetries(0), billcore.WithHooks(told.hooks(t)))
				way.run(t, s, client)
				await(t, "each is told", func() bool { begun, ended := told.count(); return begun == ended && begun > 0 })
				if last := told.ended[len(told.ended)-1]; !strings.HasPrefix(last, way.last) {
					t.Fatal(told.ended)
				}
			})
		}
	}
}

func TestAHookMayCallAtTheEnd(t *testing.T) {
	s := serve(t, pagesThatHang)
	client := connect(t, s)
	var told ends
	told.atEnd = func() {
		if _, err := client.Orders().Get(background, "o"); err != nil {
			t.Error(err)
		}
	}
	hooked, err := client.With(billcore.WithHooks(told.hooks(t)))
	if err != nil {
		t.Fatal(err)
	}
	ways["cancelled"].run(t, s, hooked)
	if !reflect.DeepEqual(told.ended, []string{givenUp}) {
		t.Fatal(told.ended)
	}
}

func TestAThousandCancelledCharges(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	var told ends
	client := connect(t, s, billcore.WithHooks(told.hooks(t)))
	var all sync.WaitGroup
	for worker := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 125 {
				ctx, cancel := context.WithCancel(background)
				time.AfterFunc(time.Duration((i*7919+worker*31)%1500)*time.Microsecond, cancel)
				charge(ctx, client, "s")
				cancel()
			}
		}()
	}
	all.Wait()
	if begun, ended := told.count(); begun != ended {
		t.Fatal(begun, ended)
	}
	for _, end := range told.ended {
		switch end {
		case "200 none true false ", "0 interrupted false false ", strings.Replace(givenUp, "hang", "s", 1):
		default:
			t.Fatal(end)
		}
	}
}

func TestTheLoggerWarnsOfAWriteThatWasGivenUp(t *testing.T) {
	var log bytes.Buffer
	s := serve(t, pagesThatHang)
	client := connect(t, s, billcore.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	ways["cancelled"].run(t, s, client)
	line := log.String()
	if strings.Count(line, "\n") != 1 || strings.Contains(line, apiKey) {
		t.Fatal(line)
	}
	for _, part := range []string{
		"level=WARN", "it may or may not have happened", "method=POST", "route=/subscription/{id}/order", "attempt=1",
		"failure=interrupted", "sent=true", "outcome_unknown=true", "path=/subscription/hang/order",
	} {
		if !strings.Contains(line, part) {
			t.Error(part, line)
		}
	}
}
