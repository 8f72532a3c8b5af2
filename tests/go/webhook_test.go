package billcoretests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"billcore"
	"billcore/model"
	"billcore/webhook"
)

var secret = []byte("whsec-0123456789abcdefghijklmnop")

const paid = `{"id":90210,"name":"order.paid","account":17,"created_at":"2025-04-25T09:30:00+02:00","data":{"id":"ord_5001","total":19900,"state":"paid","delivery":{"link":"l"},"newer":[1]}}`

func signed(t testing.TB, body string) string {
	t.Helper()
	signature, err := webhook.Sign([]byte(body), secret)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func verifier(t testing.TB, options ...webhook.Option) *webhook.Verifier {
	t.Helper()
	made, err := webhook.NewVerifier(secret, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

func TestEvent(t *testing.T) {
	event, err := verifier(t).Unwrap([]byte(paid), signed(t, paid))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := event.ID()
	name, _ := event.Name()
	account, _ := event.Account()
	created, _ := event.CreatedAt()
	data, err := event.Data()
	order, ok := data.(model.Order)
	if id != "90210" || name != "order.paid" || event.Type() != webhook.EventOrderPaid || account != 17 ||
		created.Unix() != 1745566200 || err != nil || !ok {
		t.Fatal(id, name, account, created, data, err)
	}
	total, _ := order.Total()
	delivery, _, _ := order.Delivery()
	link, _ := delivery.Link()
	newer, there, _ := order.Field("newer")
	raw, _ := order.Raw()
	if total != 19900 || link != "l" || string(newer) != "[1]" || !there || !strings.HasPrefix(string(raw), `{"id":"ord_5001"`) {
		t.Fatal(total, link, string(newer), string(raw))
	}
	for _, record := range []json.Unmarshaler{&order, &delivery, event} {
		code(t, json.Unmarshal(raw, record), webhook.ErrInvalidArgument)
	}
	var kept struct{ Order webhook.Order } // JSON null must unmarshal without an error
	if err = json.Unmarshal([]byte(`{"Order":null}`), &kept); err != nil {
		t.Fatal(err)
	}
	_, err = order.Currency()
	if e := code(t, err, webhook.ErrMissingField); e.FieldPath != "data.currency" {
		t.Fatal(e.FieldPath)
	}
	_, err = event.Subscription()
	code(t, err, webhook.ErrDecode)
	copied, err := order.Copy()
	if err != nil {
		t.Fatal(err)
	}
	body, _ := event.Raw()
	event.Close()
	event.Close()
	if total, err := copied.Total(); total != 19900 || err != nil {
		t.Fatal("a copy keeps its own text", err)
	}
	for _, read := range []func() error{
		func() error { _, err := event.ID(); return err },
		func() error { _, err := event.Name(); return err },
		func() error { _, err := event.Raw(); return err },
		func() error { _, err := order.Total(); return err },
		func() error { _, _, err := delivery.Field("link"); return err },
	} {
		code(t, read(), webhook.ErrInvalidArgument)
	}
	again, err := webhook.ParseUnverified(body)
	if err != nil || again.Type() != webhook.EventOrderPaid {
		t.Fatal(err)
	}
}

func TestANilEventGivesErrors(t *testing.T) {
	var event *webhook.Event
	event.Close()
	_, err := event.ID()
	code(t, err, webhook.ErrInvalidArgument)
	_, err = event.Data()
	code(t, err, webhook.ErrInvalidArgument)
	_, err = event.Order()
	code(t, err, webhook.ErrInvalidArgument)
	if event.Type() != webhook.EventUnknown {
		t.Fatal(event.Type())
	}
	var nobody *webhook.Verifier
	closed := verifier(t)
	closed.Close()
	for _, v := range []*webhook.Verifier{nobody, closed} {
		_, err := v.Verify(nil, "")
		code(t, err, webhook.ErrConfig)
		_, err = v.Unwrap(nil, "")
		code(t, err, webhook.ErrConfig)
		_, err = v.UnwrapHeader(nil, nil)
		code(t, err, webhook.ErrConfig)
		_, err = v.Stream()
		code(t, err, webhook.ErrConfig)
		_, err = v.Matches(0)
		code(t, err, webhook.ErrConfig)
		if v.Secrets() != 0 {
			t.Fatal(v.Secrets())
		}
		answer := httptest.NewRecorder()
		v.Handler(nil).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/", nil))
		if answer.Code != http.StatusInternalServerError {
			t.Fatal(answer.Code)
		}
	}
	_, err = webhook.NewVerifier([]byte("short"))
	code(t, err, webhook.ErrConfig)
	_, err = webhook.NewVerifier(secret, nil, webhook.WithMaxBody(-1))
	code(t, err, webhook.ErrConfig)
}

func TestHandler(t *testing.T) {
	var refused []error
	v := verifier(t, webhook.WithMaxBody(1000))
	var keep *webhook.Event
	receiver := httptest.NewServer(v.Handler(func(w http.ResponseWriter, r *http.Request, event *webhook.Event) {
		keep = event
		if name, _ := event.Name(); name != "order.paid" || webhook.EventOf(r.Context()) != event {
			w.WriteHeader(http.StatusTeapot)
		}
	}, webhook.WithOnRefused(func(_ *http.Request, err error) { refused = append(refused, err) })))
	defer receiver.Close()
	post := func(body, signature string) int {
		request, _ := http.NewRequest(http.MethodPost, receiver.URL, strings.NewReader(body))
		if signature != "none" {
			request.Header.Set("Service-Signature", signature)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		said, _ := io.ReadAll(answer.Body)
		if bytes.Contains(said, secret) || bytes.Contains(said, []byte(signed(t, body))) {
			t.Fatal(string(said))
		}
		return answer.StatusCode
	}
	large := strings.Repeat("x", 1001)
	for i, one := range []struct {
		body, signature string
		want            int
	}{
		{paid, signed(t, paid), 200},
		{paid, "none", 401},
		{paid, "", 400},
		{paid, strings.Repeat("0", 64), 401},
		{paid, strings.ToUpper(signed(t, paid)), 400},
		{large, signed(t, large), 413},
		{large + large, signed(t, large+large), 413},
		{"[]", signed(t, "[]"), 400},
	} {
		before := len(refused)
		if got := post(one.body, one.signature); got != one.want || (len(refused) > before) != (one.want != 200) {
			t.Errorf("%d: %d, not %d (%v)", i, got, one.want, refused)
		}
	}
	none, err := http.NewRequest(http.MethodPost, "/", nil) // Body is nil, unlike in each request from a net/http server
	if err != nil {
		t.Fatal(err)
	}
	recorded := httptest.NewRecorder()
	receiver.Config.Handler.ServeHTTP(recorded, none)
	if recorded.Code != 401 {
		t.Fatal(recorded.Code)
	}
	answer, err := http.Get(receiver.URL)
	if err != nil || answer.StatusCode != 405 || answer.Header.Get("Allow") != "POST" {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	_, err = keep.ID()
	code(t, err, webhook.ErrInvalidArgument) // the middleware closes the event at the end of its request
}

func TestFreshnessAndClocks(t *testing.T) {
	at := time.Unix(1745566200, 0)
	for _, one := range []struct {
		clock func() time.Time
		fresh bool
	}{
		{func() time.Time { return at.Add(time.Minute) }, true},
		{func() time.Time { return at.Add(time.Hour) }, false},
		{func() time.Time { panic("mine") }, false},
		{func() time.Time { runtime.Goexit(); return at }, false},
		{nil, false},
	} {
		_, err := verifier(t, webhook.WithFreshness(5*time.Minute), webhook.WithClock(one.clock)).Unwrap([]byte(paid), signed(t, paid))
		if one.fresh != (err == nil) {
			t.Fatal(err)
		}
		if err != nil && code(t, err, webhook.ErrSignature).Reason != webhook.ReasonStale {
			t.Fatal(err)
		}
	}
}

func TestStream(t *testing.T) {
	v := verifier(t)
	stream, err := v.Stream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(stream, strings.NewReader(paid)); err != nil {
		t.Fatal(err)
	}
	if index, err := stream.Finish(signed(t, paid)); index != 0 || err != nil {
		t.Fatal(index, err)
	}
	_, err = stream.Write([]byte("more"))
	code(t, err, webhook.ErrInvalidArgument)
	stream.Close()
	_, err = stream.Finish("")
	code(t, err, webhook.ErrInvalidArgument)
}

func TestClosingWhileOthersRead(t *testing.T) {
	v, err := webhook.NewVerifier(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature := signed(t, paid)
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 500 {
				event, err := v.Unwrap([]byte(paid), signature)
				if errors.Is(err, webhook.ErrConfig) {
					return
				}
				order, _ := event.Order()
				go event.Close()
				for {
					if _, err := order.Total(); err != nil {
						code(t, err, webhook.ErrInvalidArgument)
						break
					}
				}
			}
		}()
	}
	time.AfterFunc(20*time.Millisecond, v.Close)
	all.Wait()
}

func TestExplain(t *testing.T) {
	text, err := webhook.Explain([]byte(paid), strings.ToUpper(signed(t, paid)), secret)
	if err != nil || !strings.Contains(text, "Found: secret 1 of 1") || strings.Contains(text, string(secret)) {
		t.Fatal(text, err)
	}
}

func FuzzUnwrap(f *testing.F) {
	v := verifier(f)
	f.Add([]byte(paid), "")
	f.Add([]byte(`{"name":"test.hook","data":null}`), strings.Repeat("a", 64))
	f.Add([]byte(`{"id":1,"name":"product-group.updated","data":{"products":[1,"x"]}}`), "x")
	f.Fuzz(func(t *testing.T, body []byte, signature string) {
		right, err := webhook.Sign(body, secret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(body, signature); (err == nil) != (signature == right) {
			t.Fatal(err)
		}
		event, err := v.Unwrap(body, right)
		if err != nil {
			if !errors.Is(err, webhook.ErrDecode) && !errors.Is(err, webhook.ErrSignature) { // ErrSignature: large body
				t.Fatal(err)
			}
			return
		}
		readAll(t, event)
		if raw, err := event.Raw(); err != nil || !bytes.Equal(raw, body) {
			t.Fatal(err)
		}
		event.Close()
	})
}

// readAll calls the getters. A getter may fail, but its error must be a *billcore.Error.
func readAll(t *testing.T, event *webhook.Event) {
	_, id := event.ID()
	_, name := event.Name()
	_, account := event.Account()
	_, created := event.CreatedAt()
	data, err := event.Data()
	failures := []error{id, name, account, created, err}
	switch is := data.(type) {
	case model.Order:
		_, total := is.Total()
		delivery, _, part := is.Delivery()
		_, link := delivery.Link()
		_, fields := is.CustomFields()
		_, metadata := is.Metadata()
		failures = append(failures, total, part, link, fields, metadata)
	case model.Subscription:
		_, usable := is.UsableAt(time.Now())
		_, _, ends := is.EndsAt()
		failures = append(failures, usable, ends)
	case model.Product:
		images, all := is.Images()
		for _, image := range images {
			portrait, err := image.Portrait()
			_, src := portrait.Src()
			failures = append(failures, err, src)
		}
		_, rate := is.VATRate()
		_, strings := is.Strings()
		failures = append(failures, all, rate, strings)
	case model.ProductGroup:
		_, products := is.Products()
		failures = append(failures, products)
	}
	for _, err := range failures {
		var typed *billcore.Error
		if err != nil && !errors.As(err, &typed) {
			t.Fatal(err)
		}
	}
}

// The memory of the C library stays bounded, whether a receiver closes its events or leaves them to the garbage
// collector.
func TestEventsKeepLittle(t *testing.T) {
	withoutRaceDetector(t)
	v := verifier(t)
	body := `{"id":1,"name":"order.paid","data":{"id":"o","metadata":{"x":"` + strings.Repeat("y", 100_000) + `"}}}`
	signature := signed(t, body)
	unwrap := func(count int, close bool) {
		for range count {
			event, err := v.Unwrap([]byte(body), signature)
			if err != nil {
				t.Fatal(err)
			}
			if close {
				event.Close()
			}
		}
	}
	unwrap(200, true)
	runtime.GC()
	before := resident(t)
	unwrap(5_000, true) // 500 MB of bodies
	if after := resident(t); after > before+100<<20 {
		t.Fatalf("closed events: %d MB more", (after-before)>>20)
	}
	unwrap(5_000, false)
	if after := resident(t); after > before+300<<20 {
		t.Fatalf("events left to the garbage collector: %d MB more", (after-before)>>20)
	}
}
