package billcoretests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	billcore "billcore.example/go"
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

func TestARecord(t *testing.T) {
	s := serve(t, wrapped(order(7)))
	got := must(connect(t, s.URL).Orders().Get(background, "ord_7"))
	if got.String() != `Order(id="ord_7", state="paid")` || strings.Contains(fmt.Sprintf("%v %s", got, got), "x.example") {
		t.Fatal(got.String())
	}
	raw, err := json.Marshal(got)
	if err != nil || !json.Valid(raw) || !bytes.Contains(raw, []byte(`"total":700`)) {
		t.Fatal(string(raw), err)
	}
	metadata, err := got.Metadata()
	_, referenced, err2 := got.ReferenceID()
	_, there, err3 := got.Field("remote_id")
	if string(metadata) != `{"n":7}` || referenced || there || err != nil || err2 != nil || err3 != nil {
		t.Fatal(string(metadata), referenced, there, err, err2, err3)
	}
	copied, err := got.Copy()
	same, err2 := copied.Equal(got)
	if err != nil || err2 != nil || !same {
		t.Fatal(err, err2, same)
	}
	var nothing billcore.Order
	_, err = nothing.Total()
	_, _, err2 = nothing.Delivery()
	_, err3 = nothing.Raw()
	_, err4 := nothing.Equal(nothing)
	for _, err := range []error{err, err2, err3, err4} {
		code(t, err, billcore.ErrInvalidArgument)
	}
	if nothing.String() != "Order()" {
		t.Fatal(nothing.String())
	}
}

func TestEveryOperationWithoutAContextOrAClientGivesAnError(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	var nobody *billcore.Client
	closed := connect(t, s.URL)
	for range 2 {
		if closed.Close() != nil || nobody.Close() != nil {
			t.Fatal("closing again does nothing")
		}
	}
	failed := &billcore.Error{Code: billcore.ErrOutcomeUnknown}
	for name, client := range map[string]*billcore.Client{"nil": nobody, "closed": closed, "open": connect(t, s.URL)} {
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
		_, err := subscriptions.FindCharges(ctx, failed)
		code(t, err, billcore.ErrInvalidArgument) // FindCharges refuses `failed`: no call has returned this error
	}
	if _, err := nobody.With(); !errors.Is(err, billcore.ErrConfig) {
		t.Error(err)
	}
	if len(s.sent()) != 0 {
		t.Fatal(s.sent())
	}
}

func TestFindChargesSaysWhatMayBeMissing(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"data":[%s],"pagination":{"total":2,"count":1,"per_page":10,"current_page":1,"total_pages":1,"links":{}}}`, order(3))
	})
	none, err := connect(t, s.URL).Subscriptions().FindChargesSince(background, "sub_1", time.Unix(0, 0), billcore.SearchProduct(102))
	if e := code(t, err, billcore.ErrPossiblyMissed); none != nil || e.Cause != billcore.ErrPagination {
		t.Fatal(none, err)
	}
	found := billcore.FoundCharges(fmt.Errorf("wrapped: %w", err))
	runtime.GC() // the garbage collection must not free the page that the orders use
	if id, err := found[0].ID(); len(found) != 1 || id != "ord_3" || err != nil {
		t.Fatal(found, err)
	}
	if sent := s.sent(); !strings.Contains(sent[0], "page=1&per_page=200&filter%5Bproduct_id%5D=102") {
		t.Fatal(sent)
	}
	_, err = connect(t, s.URL).Subscriptions().FindChargesSince(background, "sub_1", time.Now(), billcore.SearchSkew(1))
	code(t, err, billcore.ErrInvalidArgument) // a search since a time has no skew
	if billcore.FoundCharges(nil) != nil || billcore.FoundCharges(&billcore.Error{Code: billcore.ErrPossiblyMissed}) != nil {
		t.Fatal("an error of no search has orders")
	}
}

func TestArgumentsOfGoAreChecked(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s.URL)
	_, zero := billcore.NewClient(billcore.WithBaseURL(s.URL), billcore.WithAPIKey("k"), billcore.Option{})
	_, negative := billcore.NewClient(billcore.WithBaseURL(s.URL), billcore.WithAPIKey("k"), billcore.WithTimeout(-1))
	_, key := client.With(billcore.WithAPIKey("other"))
	_, function := client.Products().Update(background, 1, billcore.ProductField("x", func() {}))
	for i, err := range []error{zero, negative, key, function} {
		if !errors.Is(err, billcore.ErrConfig) && !errors.Is(err, billcore.ErrInvalidArgument) {
			t.Error(i, err)
		}
	}
	if len(s.sent()) != 0 {
		t.Fatal(s.sent())
	}
}

func TestWritesSendTheirJSON(t *testing.T) {
	s := serve(t, wrapped(`{"id":102,"name":"x"}`))
	client := connect(t, s.URL)
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

// The Go runtime sends SIGURG to its threads, and a closed connection causes SIGPIPE: neither signal may end a call.
func TestSignalsDoNotEndCalls(t *testing.T) {
	s := serve(t, book(2000))
	client := connect(t, s.URL)
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
			s.CloseClientConnections() // the client may write the next request to a closed connection
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
		err := fmt.Errorf("wrapped: %w", &billcore.Error{Code: pair[0]})
		if !errors.Is(err, pair[0]) || !errors.Is(err, pair[1]) || errors.Is(err, billcore.ErrSignature) {
			t.Error(pair)
		}
	}
	if perhaps := (&billcore.Error{Code: billcore.ErrServer, OutcomeUnknown: true}); !errors.Is(perhaps, billcore.ErrOutcomeUnknown) {
		t.Error("a 5xx answer to a write leaves its outcome unknown")
	}
	var none *billcore.Error
	if none.Error() == "" || none.Timeout() || none.Unwrap() != nil || none.Is(billcore.ErrAPI) {
		t.Error("a nil error has methods")
	}
}
