package billcoretests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	billcore "billcore.example/go"
)

const apiKey = "key_of_the_tests_0123456789"

// service is a real HTTP server that records the requests.
type service struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []string
	held     chan struct{} // closing this channel ends the held requests
	broken   atomic.Int64  // number of held requests whose client disconnected
}

func (s *service) sent() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]string(nil), s.requests...)
}

// serve starts a service that answers with `answer`. The service holds a request for a path that ends in /hang,
// /hang/order or /hang/orders until the client disconnects or the test ends.
func serve(t testing.TB, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{held: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mutex.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		s.mutex.Unlock()
		if path := strings.TrimSuffix(strings.TrimSuffix(r.URL.Path, "s"), "/order"); strings.HasSuffix(path, "/hang") {
			select {
			case <-r.Context().Done():
				s.broken.Add(1)
			case <-s.held:
			}
			return
		}
		answer(w, r)
	}))
	t.Cleanup(func() {
		close(s.held)
		s.Close()
	})
	return s
}

func connect(t testing.TB, url string, options ...billcore.Option) *billcore.Client {
	t.Helper()
	options = append([]billcore.Option{billcore.WithBaseURL(url + "/acct"), billcore.WithAPIKey(apiKey)}, options...)
	client := must(billcore.NewClient(options...))
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func order(id int) string {
	return fmt.Sprintf(`{"id":"ord_%d","created_at":"2025-04-25T09:30:00+02:00","total":%d,"total_with_vat":%d,"currency":"DKK",`+
		`"reference_id":null,"state":"paid","delivery":{"link":"https://x.example/%d"},"custom_fields":[],"metadata":{"n":%d}}`,
		id, id*100, id*125, id, id)
}

func wrapped(data string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"data":%s}`, data) }
}

// `page` returns a page of a list of `total` orders.
func page(number, total, perPage int) string {
	var items []string
	for i := (number-1)*perPage + 1; i <= min(number*perPage, total); i++ {
		items = append(items, order(i))
	}
	return fmt.Sprintf(`{"data":[%s],"pagination":{"total":%d,"count":%d,"per_page":%d,"current_page":%d,"total_pages":%d,"links":{}}}`,
		strings.Join(items, ","), total, len(items), perPage, number, max(1, (total+perPage-1)/perPage))
}

// `book` answers with a list of `total` orders, 10 on a page.
func book(total int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		number, _ := strconv.Atoi(r.URL.Query().Get("page"))
		_, _ = io.WriteString(w, page(max(number, 1), total, 10))
	}
}

// must returns the value of a call that must succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// await waits until `is` returns true; it fails the test after a minute.
func await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
