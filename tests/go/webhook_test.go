package billcoretests

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	billcore "billcore.example/go"
	"billcore.example/go/model"
	"billcore.example/go/webhook"
)

var secret = []byte("whsec-0123456789abcdefghijklmnop")

const paid = `{"id":90210,"name":"order.paid","account":17,"created_at":"2025-04-25T09:30:00+02:00","data":{"id":"ord_5001","total":19900,"state":"paid","delivery":{"link":"l"},"newer":[1]}}`

func signed(t testing.TB, body string) string {
	t.Helper()
	signature := must(webhook.Sign([]byte(body), secret))
	return signature
}

func verifier(t testing.TB, options ...webhook.Option) *webhook.Verifier {
	t.Helper()
	made := must(webhook.NewVerifier(secret, options...))
	t.Cleanup(made.Close)
	return made
}

func TestEvent(t *testing.T) {
	event := must(verifier(t).Unwrap([]byte(paid), signed(t, paid)))
	data, err := event.Data()
	order, ok := data.(model.Order)
	if event.Type() != webhook.EventOrderPaid || err != nil || !ok {
		t.Fatal(event.Type(), data, err)
	}
	delivery, _, _ := order.Delivery()
	raw, _ := order.Raw()
	if !strings.HasPrefix(string(raw), `{"id":"ord_5001"`) {
		t.Fatal(string(raw))
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
	copied := must(order.Copy())
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
	_, err = webhook.NewVerifierForAccounts(nil, webhook.WithMoreSecrets(secret))
	code(t, err, webhook.ErrConfig)
}

func TestSecretsOfAccountsCountInTheOrderOfTheNames(t *testing.T) {
	others := []byte("whsec-of-somebody-else-entirely!")
	v := must(webhook.NewVerifierForAccounts(map[string][][]byte{"9": {others}, "17": {secret}, "3": {others}}))
	defer v.Close()
	must(v.Unwrap([]byte(paid), signed(t, paid))).Close()
	if count, err := v.Matches(0); count != 1 || err != nil { // sorted as texts: 17, 3, 9
		t.Fatal(count, err)
	}
}

func TestHandler(t *testing.T) {
	var refused []error
	v := verifier(t, webhook.WithMaxBody(1000))
	var keep *webhook.Event
	receiver := v.Handler(func(w http.ResponseWriter, r *http.Request, event *webhook.Event) {
		keep = event
		if name, _ := event.Name(); name != "order.paid" || webhook.EventOf(r.Context()) != event {
			w.WriteHeader(http.StatusTeapot)
		}
	}, webhook.WithOnRefused(func(_ *http.Request, err error) { refused = append(refused, err) }))
	large := strings.Repeat("x", 1001)
	for i, one := range []struct {
		method    string
		body      io.Reader // not a *strings.Reader if its length is not declared
		signature []string
		want      int
	}{
		{"POST", strings.NewReader(paid), []string{signed(t, paid)}, 200},
		{"POST", strings.NewReader(paid), nil, 401},
		{"POST", strings.NewReader(paid), []string{""}, 400},
		{"POST", strings.NewReader(paid), []string{strings.Repeat("0", 64)}, 401},
		{"POST", strings.NewReader(large), []string{signed(t, large)}, 413},
		{"POST", io.MultiReader(strings.NewReader(large)), []string{signed(t, large)}, 413},
		{"POST", strings.NewReader("[]"), []string{signed(t, "[]")}, 400},
		{"POST", nil, nil, 401}, // Body is nil, unlike in each request from a net/http server
		{"GET", nil, nil, 405},
	} {
		request := must(http.NewRequest(one.method, "/", one.body))
		request.Header["Service-Signature"] = one.signature
		before, answer := len(refused), httptest.NewRecorder()
		receiver.ServeHTTP(answer, request)
		if answer.Code != one.want || (len(refused) > before) != (one.want != 200) || (answer.Header().Get("Allow") == "POST") != (one.want == 405) {
			t.Errorf("%d: %d, not %d (%v)", i, answer.Code, one.want, refused)
		}
		if said := answer.Body.String(); strings.Contains(said, string(secret)) || len(one.signature) == 1 && len(one.signature[0]) == 64 &&
			strings.Contains(said, one.signature[0]) {
			t.Error(said)
		}
	}
	_, err := keep.ID()
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
	stream := must(v.Stream())
	if _, err := io.Copy(stream, strings.NewReader(paid)); err != nil {
		t.Fatal(err)
	}
	if index, err := stream.Finish(signed(t, paid)); index != 0 || err != nil {
		t.Fatal(index, err)
	}
	_, err := stream.Write([]byte("more"))
	code(t, err, webhook.ErrInvalidArgument)
	stream.Close()
	_, err = stream.Finish("")
	code(t, err, webhook.ErrInvalidArgument)
}

func TestClosingWhileOthersRead(t *testing.T) {
	v := must(webhook.NewVerifier(secret))
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

func FuzzUnwrap(f *testing.F) {
	v := verifier(f)
	f.Add([]byte(paid), "")
	f.Add([]byte(`{"name":"test.hook","data":null}`), strings.Repeat("a", 64))
	f.Add([]byte(`{"id":1,"name":"product-group.updated","data":{"products":[1,"x"]}}`), "x")
	f.Fuzz(func(t *testing.T, body []byte, signature string) {
		right := must(webhook.Sign(body, secret))
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
		readAll(t, reflect.ValueOf(event))
		if raw, err := event.Raw(); err != nil || !bytes.Equal(raw, body) {
			t.Fatal(err)
		}
		event.Close()
	})
}

// readAll calls the getters of a value, and those of the values that they return. A getter may fail, but its error must
// be a *billcore.Error.
func readAll(t *testing.T, value reflect.Value) {
	if value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct {
		for i := range value.Len() {
			readAll(t, value.Index(i))
		}
	}
	for i := range value.NumMethod() {
		method := value.Type().Method(i)
		if method.Name == "Close" || value.Method(i).Type().NumIn() != 0 || !strings.HasPrefix(value.Type().String(), "model.") &&
			!strings.HasPrefix(value.Type().String(), "*model.") {
			continue
		}
		for _, result := range value.Method(i).Call(nil) {
			if result.Kind() == reflect.Interface {
				result = result.Elem()
			}
			if !result.IsValid() || method.Name == "Copy" {
				continue
			}
			var typed *billcore.Error
			if err, is := result.Interface().(error); !is {
				readAll(t, result)
			} else if !errors.As(err, &typed) {
				t.Fatal(method.Name, err)
			}
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
			event := must(v.Unwrap([]byte(body), signature))
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
