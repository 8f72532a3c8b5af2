package billcoretests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"billcore"
	"billcore/model"
)

var background = context.Background()

func code(t *testing.T, err error, want billcore.Code) *billcore.Error {
	t.Helper()
	var found *billcore.Error
	if !errors.As(err, &found) || found.Code != want {
		t.Fatalf("%v, not %v", err, want)
	}
	if found.Message == "" || strings.ContainsAny(found.Message, "\n") || strings.Contains(found.Message, apiKey) {
		t.Fatalf("not one line without secrets: %q", found.Message)
	}
	return found
}

func TestFields(t *testing.T) {
	s := serve(t, wrapped(order(7)))
	got, err := connect(t, s).Orders().Get(background, "ord_7")
	if err != nil {
		t.Fatal(err)
	}
	id, _ := got.ID()
	total, _ := got.Total()
	created, _ := got.CreatedAt()
	_, referenced, err := got.ReferenceID()
	delivery, delivered, _ := got.Delivery()
	link, _ := delivery.Link()
	metadata, _ := got.Metadata()
	state, _ := got.State()
	if id != "ord_7" || total != 700 || created.Unix() != 1745566200 || referenced || err != nil || !delivered ||
		link != "https://x.example/7" || string(metadata) != `{"n":7}` || state != billcore.OrderStatePaid {
		t.Fatal(id, total, created, referenced, err, delivered, link, string(metadata), state)
	}
	if got.String() != `Order(id="ord_7", state="paid")` || strings.Contains(fmt.Sprintf("%v %s", got, got), "x.example") {
		t.Fatal(got.String())
	}
	raw, err := json.Marshal(got)
	if err != nil || !json.Valid(raw) || !bytes.Contains(raw, []byte(`"total":700`)) {
		t.Fatal(string(raw), err)
	}
	_, there, err := got.Field("remote_id")
	if there || err != nil {
		t.Fatal("remote_id is absent")
	}
	_, _, err = got.RemoteID()
	if err != nil {
		t.Fatal(err)
	}
	copied, err := got.Copy()
	same, err2 := copied.Equal(got)
	if err != nil || err2 != nil || !same {
		t.Fatal(err, err2, same)
	}
}

func TestARecordOfNothingGivesErrors(t *testing.T) {
	var nothing billcore.Order
	_, err := nothing.Total()
	code(t, err, billcore.ErrInvalidArgument)
	_, _, err = nothing.Delivery()
	code(t, err, billcore.ErrInvalidArgument)
	_, err = nothing.Raw()
	code(t, err, billcore.ErrInvalidArgument)
	_, err = nothing.Equal(nothing)
	code(t, err, billcore.ErrInvalidArgument)
	if nothing.String() != "Order()" {
		t.Fatal(nothing.String())
	}
}

func TestEveryOperationWithoutAContextOrAClientGivesAnError(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	var nobody *billcore.Client
	closed := connect(t, s)
	for range 2 {
		if closed.Close() != nil || nobody.Close() != nil {
			t.Fatal("closing again does nothing")
		}
	}
	failed := model.NewError(billcore.ErrOutcomeUnknown, "made up")
	for name, client := range map[string]*billcore.Client{"nil": nobody, "closed": closed, "open": connect(t, s)} {
		ctx, want := background, billcore.ErrConfig
		if name == "open" {
			ctx, want = nil, billcore.ErrInvalidArgument
		}
		subscriptions, products := client.Subscriptions(), client.Products()
		_, get := subscriptions.Get(ctx, "s")
		_, cancel := subscriptions.Cancel(ctx, "s")
		_, change := subscriptions.ChangeProduct(ctx, "s", 1)
		_, charge := subscriptions.Charge(ctx, "s", 1, 1, billcore.ChargeQuantity(2))
		_, since := subscriptions.FindChargesSince(ctx, "s", time.Now())
		_, product := products.Get(ctx, 1)
		_, update := products.Update(ctx, 1, billcore.ProductPrice(1))
		_, one := client.Orders().Get(ctx, "o")
		_, hook := client.WebhookEndpoints().Create(ctx, "https://x.example")
		_, own := client.Request(ctx, "GET", "/x")
		for i, err := range []error{get, cancel, change, charge, since, product, update, products.Delete(ctx, 1), one, hook, own} {
			if !errors.Is(err, want) {
				t.Errorf("%s client, operation %d: %v", name, i, err)
			}
		}
		lists := 0
		for _, err := range subscriptions.List(ctx).All() {
			code(t, err, want)
			lists++
		}
		for _, err := range subscriptions.Orders(ctx, "s").Pages() {
			code(t, err, want)
			lists++
		}
		if _, _, err := products.List(ctx).First(); lists != 2 || !errors.Is(err, want) {
			t.Error(name, lists, err)
		}
		_, err := subscriptions.FindCharges(ctx, failed, billcore.DefaultSkew)
		code(t, err, billcore.ErrInvalidArgument) // made by no call
	}
	if _, err := nobody.With(); !errors.Is(err, billcore.ErrConfig) {
		t.Error(err)
	}
	if len(s.sent()) != 0 {
		t.Fatal(s.sent())
	}
}

func TestAContextThatIsDoneSendsNothing(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s)
	done, cancel := context.WithCancel(background)
	cancel()
	_, err := client.Subscriptions().Charge(done, "s", 1, 1)
	if e := code(t, err, billcore.ErrInterrupted); !errors.Is(err, context.Canceled) || e.OutcomeUnknown || e.Timeout() {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(background, time.Now().Add(-time.Second))
	defer cancel()
	_, err = client.Orders().Get(late, "o")
	if e := code(t, err, billcore.ErrTimeout); !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() || !errors.Is(err, billcore.ErrTransport) {
		t.Fatal(err)
	}
	for _, err := range client.Products().List(done).All() {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if len(s.sent()) != 0 {
		t.Fatal(s.sent())
	}
}

func TestCancellingEndsTheTransfer(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s)
	for _, write := range []bool{false, true} {
		before := s.broken.Load()
		sent := len(s.sent())
		ctx, cancel := context.WithCancel(background)
		failed := make(chan error)
		go func() {
			var err error
			if write {
				_, err = client.Subscriptions().Charge(ctx, "hang", 1, 1)
			} else {
				_, err = client.Orders().Get(ctx, "hang")
			}
			failed <- err
		}()
		await(t, "the request arrives", func() bool { return len(s.sent()) > sent })
		cancel()
		err := <-failed
		e := code(t, err, billcore.ErrInterrupted)
		if !errors.Is(err, context.Canceled) || e.OutcomeUnknown != write || errors.Is(err, billcore.ErrOutcomeUnknown) != write {
			t.Fatal(err, e.OutcomeUnknown)
		}
		await(t, "the server sees the connection end", func() bool { return s.broken.Load() > before })
	}
}

func TestTheCauseOfACancelledContextIsKept(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s)
	mine := errors.New("mine")
	ctx, cancel := context.WithCancelCause(background)
	failed := make(chan error)
	go func() {
		_, err := client.Orders().Get(ctx, "hang")
		failed <- err
	}()
	await(t, "the request arrives", func() bool { return len(s.sent()) == 1 })
	cancel(mine)
	_, later := client.Orders().Get(ctx, "o")
	for _, err := range []error{<-failed, later} {
		code(t, err, billcore.ErrInterrupted)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, mine) {
			t.Fatal(err)
		}
	}
}

// A hook may call runtime.Goexit, as t.FailNow does: the call goes on, and its caller learns what became of it.
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

func TestADeadlineOfTheContextCounts(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s, billcore.WithNoTimeout())
	ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
	defer cancel()
	_, err := client.Subscriptions().Charge(ctx, "hang", 1, 1)
	var e *billcore.Error
	if !errors.As(err, &e) || !errors.Is(err, billcore.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() {
		t.Fatal(err)
	}
	short, err := client.With(billcore.WithTimeout(50 * time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	_, err = short.Orders().Get(background, "hang")
	if code(t, err, billcore.ErrTimeout); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the context has no deadline")
	}
}

func TestFindCharges(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, `{"data":[%s],"pagination":{"total":1,"count":1,"per_page":10,"current_page":1,"total_pages":1,"links":{}}}`,
			strings.Replace(order(3), "2025-04-25T09:30:00+02:00", time.Now().UTC().Format(time.RFC3339), 1))
	})
	client := connect(t, s)
	_, err := client.Subscriptions().Charge(background, "sub_1", 102, 1500, billcore.ChargeDescription("one"))
	e := code(t, err, billcore.ErrServer)
	if !errors.Is(err, billcore.ErrOutcomeUnknown) || !errors.Is(err, billcore.ErrAPI) || e.AttemptedAt.IsZero() || e.HTTPStatus != 502 {
		t.Fatal(err)
	}
	found, err := client.Subscriptions().FindCharges(background, fmt.Errorf("wrapped: %w", err), billcore.DefaultSkew)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	runtime.GC() // the orders keep their page
	if id, err := found[0].ID(); id != "ord_3" || err != nil {
		t.Fatal(id, err)
	}
	since, err := client.Subscriptions().FindChargesSince(background, "sub_1", time.Now().Add(time.Hour))
	if err != nil || len(since) != 0 {
		t.Fatal(since, err)
	}
}

func TestManyCancelledCalls(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s)
	goroutines := runtime.NumGoroutine()
	var all sync.WaitGroup
	var wrong atomic.Int64
	for i := range 1000 {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithTimeout(background, time.Duration(i%20)*time.Millisecond)
			defer cancel()
			id := billcore.ID("hang")
			if i%3 == 0 {
				id = "o"
			}
			_, err := client.Orders().Get(ctx, id)
			if err == nil && id == "hang" || err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, billcore.ErrTimeout) {
				wrong.Add(1)
				t.Error(err)
			}
		}()
	}
	all.Wait()
	client.Close()
	s.CloseClientConnections()
	settled(t, goroutines)
}

// The time that a call waits for others to end is of its time-out.
func TestWaitingForASlotIsPartOfTheTimeout(t *testing.T) {
	const most = 1000 // calls at once in a process
	s := serve(t, wrapped(order(1)))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	others := connect(t, s, billcore.WithNoTimeout())
	var all sync.WaitGroup
	for range most {
		all.Add(1)
		go func() {
			defer all.Done()
			_, _ = others.Orders().Get(ctx, "hang")
		}()
	}
	await(t, "all run", func() bool { return len(s.sent()) == most })
	began := time.Now()
	time.AfterFunc(2500*time.Millisecond, cancel)
	_, err := connect(t, s, billcore.WithTimeout(3*time.Second)).Subscriptions().Charge(background, "hang", 1, 100)
	if took := time.Since(began); !errors.Is(err, billcore.ErrTimeout) && !errors.Is(err, billcore.ErrOutcomeUnknown) || took > 4500*time.Millisecond {
		t.Fatal(took, err)
	}
	all.Wait()
}

func TestAThousandCallsAtOnceAreNotAThousandThreads(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s, billcore.WithTimeout(time.Minute))
	var all sync.WaitGroup
	for range 3000 { // more than run at once: the rest waits
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := client.Orders().Get(background, "o"); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
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

func TestOptionsAreChecked(t *testing.T) {
	for name, options := range map[string][]billcore.Option{
		"no key":          {billcore.WithBaseURL("https://x.example/a")},
		"http":            {billcore.WithBaseURL("http://x.example/a"), billcore.WithAPIKey("k")},
		"timeout":         {billcore.WithBaseURL("https://x.example/a"), billcore.WithAPIKey("k"), billcore.WithTimeout(-1)},
		"concurrency":     {billcore.WithBaseURL("https://x.example/a"), billcore.WithAPIKey("k"), billcore.WithConcurrency(0)},
		"zero option":     {billcore.WithBaseURL("https://x.example/a"), {}},
		"max_retries min": {billcore.WithBaseURL("https://x.example/a"), billcore.WithAPIKey("k"), billcore.WithMaxRetries(-1)},
	} {
		client, err := billcore.NewClient(options...)
		if client != nil || !errors.Is(err, billcore.ErrConfig) && !errors.Is(err, billcore.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := serve(t, wrapped(order(1)))
	client := connect(t, s)
	if _, err := client.With(billcore.WithAPIKey("other")); !errors.Is(err, billcore.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := client.Products().Update(background, 1, billcore.ProductField("x", func() {})); !errors.Is(err, billcore.ErrInvalidArgument) {
		t.Error(err)
	}
	if _, err := client.Products().Update(background, 1); !errors.Is(err, billcore.ErrInvalidArgument) {
		t.Error(err)
	}
	if len(s.sent()) != 0 {
		t.Fatal(s.sent())
	}
}

func TestWrites(t *testing.T) {
	s := serve(t, wrapped(`{"id":102,"name":"x"}`))
	client := connect(t, s)
	if _, err := client.Products().Update(background, 102, billcore.ProductPrice(1900), billcore.ProductField("description", nil),
		billcore.ProductVATRate("12.50"), billcore.ProductField("newer", map[string]int{"a": 1})); err != nil {
		t.Fatal(err)
	}
	answer, err := client.Request(background, "PUT", "/x/y", billcore.RequestQuery("a b", "c&d"), billcore.RequestJSON([]int{1}))
	if err != nil || answer.Status != 200 || answer.Attempts != 1 || answer.Header.Get("Content-Type") == "" {
		t.Fatal(answer, err)
	}
	var decoded struct{ Data struct{ ID int } }
	if err := answer.JSON(&decoded); err != nil || decoded.Data.ID != 102 {
		t.Fatal(decoded, err)
	}
	want := []string{
		`POST /acct/product/102 {"price":1900,"description":null,"vat_rate":12.50,"newer":{"a":1}}`,
		`PUT /acct/x/y?a%20b=c%26d [1]`,
	}
	if !reflect.DeepEqual(s.sent(), want) {
		t.Fatal(s.sent())
	}
}

// The Go runtime sends signals to its threads; SIGPIPE and SIGPROF must not end a call.
func TestSignalsDoNotEndCalls(t *testing.T) {
	s := serve(t, book(2000))
	client := connect(t, s)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = syscall.Kill(os.Getpid(), syscall.SIGURG)
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	defer close(stop)
	seen := 0
	for _, err := range client.Subscriptions().Orders(background, "s").All() {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen%500 == 0 {
			s.CloseClientConnections() // the next request writes into a connection that is closed
		}
	}
	if seen != 2000 {
		t.Fatal(seen)
	}
}

func TestErrorsOfAClosedTableHaveParents(t *testing.T) {
	for _, pair := range [][2]billcore.Code{
		{billcore.ErrPayment, billcore.ErrAPI}, {billcore.ErrConflict, billcore.ErrAPI}, {billcore.ErrTLS, billcore.ErrTransport},
		{billcore.ErrTimeout, billcore.ErrTransport}, {billcore.ErrMissingField, billcore.ErrDecode},
		{billcore.ErrOutOfRange, billcore.ErrDecode},
	} {
		err := fmt.Errorf("wrapped: %w", model.NewError(pair[0], "x"))
		if !errors.Is(err, pair[0]) || !errors.Is(err, pair[1]) || errors.Is(err, billcore.ErrSignature) {
			t.Error(pair)
		}
	}
	var none *billcore.Error
	if none.Error() == "" || none.Timeout() || none.Unwrap() != nil || none.Is(billcore.ErrAPI) {
		t.Error("a nil error has methods")
	}
}

// fmt asks no method of a field that is not exported, such as that of a configuration of yours.
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
