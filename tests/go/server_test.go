package billcoretests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"billcore"
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

// serve starts a service that answers with `answer`. The service holds a request for a path that ends in /hang or
// /hang/order until the client disconnects or the test ends.
func serve(t testing.TB, answer http.HandlerFunc) *service {
	t.Helper()
	s := &service{held: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mutex.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		s.mutex.Unlock()
		if strings.HasSuffix(r.URL.Path, "/hang") || strings.HasSuffix(r.URL.Path, "/hang/order") {
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

func connect(t testing.TB, s *service, options ...billcore.Option) *billcore.Client {
	t.Helper()
	options = append([]billcore.Option{billcore.WithBaseURL(s.URL + "/acct"), billcore.WithAPIKey(apiKey)}, options...)
	client, err := billcore.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
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

// `book` answers with a list of `total` orders, 10 on a page.
func book(total int) http.HandlerFunc {
	const perPage = 10
	return func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		page = max(page, 1)
		pages := max(1, (total+perPage-1)/perPage)
		var items []string
		for i := (page-1)*perPage + 1; i <= min(page*perPage, total); i++ {
			items = append(items, order(i))
		}
		numbers, _ := json.Marshal(map[string]any{
			"total": total, "count": len(items), "per_page": perPage, "current_page": page, "total_pages": pages,
			"links": map[string]any{},
		})
		fmt.Fprintf(w, `{"data":[%s],"pagination":%s}`, strings.Join(items, ","), numbers)
	}
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

// `settled` waits until at most `before` goroutines run.
func settled(t testing.TB, before int) {
	t.Helper()
	await(t, "the goroutines end", func() bool { runtime.GC(); return runtime.NumGoroutine() <= before })
}
