package billcoretests

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	billcore "billcore.example/go"
)

// resident returns the resident memory of the process, in bytes.
func resident(t testing.TB) int64 {
	t.Helper()
	status := must(os.ReadFile("/proc/self/statm"))
	pages := must(strconv.ParseInt(strings.Fields(string(status))[1], 10, 64))
	return pages * int64(os.Getpagesize())
}

func TestALongListKeepsLittle(t *testing.T) {
	withoutRaceDetector(t)
	const count = 50_000
	padding := `"metadata":{"x":"` + strings.Repeat("y", 10_000) + `"`
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { // 500 MB in all
		answer := httptest.NewRecorder()
		book(count)(answer, r)
		_, _ = io.WriteString(w, strings.ReplaceAll(answer.Body.String(), `"metadata":{"n":`, padding+`,"n":`))
	})
	client := connect(t, s.URL)
	seen, most := 0, int64(0)
	before := resident(t)
	var sum int64
	for order, err := range client.Subscriptions().Orders(background, "s").All() {
		sum += must(must(order, err).Total())
		if seen++; seen%1_000 == 0 {
			most = max(most, resident(t)-before)
		}
	}
	if sum != count*(count+1)/2*100 || seen != count {
		t.Fatal(seen, sum)
	}
	t.Logf("%d MB more at most", most>>20)
	if most > 150<<20 {
		t.Fatalf("%d MB more", most>>20)
	}
}

// withoutRaceDetector skips a test under the race detector, whose own memory would distort the numbers.
func withoutRaceDetector(t testing.TB) {
	t.Helper()
	if underRace {
		t.Skip("measured without the race detector")
	}
}

func TestClientsAndListsThatNobodyClosesAreFreed(t *testing.T) {
	s := serve(t, book(30))
	open := func(count int) {
		for range count {
			client := must(billcore.NewClient(billcore.WithBaseURL(s.URL+"/acct"), billcore.WithAPIKey(apiKey)))
			for range client.Subscriptions().Orders(background, "s").All() {
				break
			}
		}
	}
	open(500)
	// Count file descriptors (each client has several), not memory: the allocator may keep the memory of freed clients.
	await(t, "500 clients are freed", func() bool {
		runtime.GC()
		return descriptors(t) < 400
	})
}

func descriptors(t testing.TB) int {
	t.Helper()
	found := must(os.ReadDir("/proc/self/fd"))
	return len(found)
}
