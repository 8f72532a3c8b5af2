package billcoretests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"billcore.example/go/webhook"
)

// receiver serves a handler over a socket. The channel gets the error of each refused request.
func receiver(t *testing.T, verifier *webhook.Verifier, options ...webhook.HandlerOption) (*httptest.Server, chan error) {
	t.Helper()
	refused := make(chan error, 100)
	options = append(options, webhook.WithOnRefused(func(_ *http.Request, err error) { refused <- err }))
	server := httptest.NewServer(verifier.Handler(func(http.ResponseWriter, *http.Request, *webhook.Event) {}, options...))
	t.Cleanup(server.Close)
	return server, refused
}

func TestHandlerAndMiddlewareAnswerTheSharedDeliveries(t *testing.T) {
	text := must(os.ReadFile("../fixtures/deliveries.json"))
	var file struct {
		Deliveries []struct {
			Name, Body string
			Status     int
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Deliveries) < 50 {
		t.Fatal(len(file.Deliveries), err)
	}
	v := verifier(t)
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, handler := range map[string]http.Handler{"Handler": v.Handler(nil), "Middleware": v.Middleware()(nothing)} {
		for _, each := range file.Deliveries {
			request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(each.Body))
			request.Header.Set("Service-Signature", signed(t, each.Body))
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if answer.Code != each.Status {
				t.Errorf("%s, %s: %d, not %d", name, each.Name, answer.Code, each.Status)
			}
		}
	}
}

// begin opens a connection and sends the head of a delivery, and the beginning of its body.
func begin(t *testing.T, server *httptest.Server, length int, body string) *net.TCPConn {
	t.Helper()
	connection := must(net.Dial("tcp", server.Listener.Addr().String()))
	t.Cleanup(func() { connection.Close() })
	must(fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: x\r\nService-Signature: %s\r\nContent-Length: %d\r\n\r\n%s",
		signed(t, paid), length, body))
	return connection.(*net.TCPConn)
}

func answered(t *testing.T, connection net.Conn) string {
	t.Helper()
	all := must(io.ReadAll(connection))
	status, _, _ := strings.Cut(string(all), "\r\n")
	return status
}

func refusal(t *testing.T, refused chan error, code webhook.Code, reason webhook.Reason) error {
	t.Helper()
	err := <-refused
	var told *webhook.Error
	if !errors.As(err, &told) || told.Reason != reason || told.Code != code || told.HTTPStatus != reason.HTTPStatus() {
		t.Fatalf("%v (%T)", err, err)
	}
	return err
}

func TestABodyThatIsRefusedUnread(t *testing.T) {
	server, refused := receiver(t, verifier(t), webhook.WithReadTimeout(50*time.Millisecond))
	if got := answered(t, begin(t, server, 1<<30, "")); got != "HTTP/1.1 413 Request Entity Too Large" {
		t.Fatal(got)
	}
	refusal(t, refused, webhook.ErrSignature, webhook.ReasonBodyTooLarge)
	if got := answered(t, begin(t, server, len(paid), paid[:20])); got != "HTTP/1.1 408 Request Timeout" {
		t.Fatal(got)
	}
	if err := refusal(t, refused, webhook.ErrTimeout, webhook.ReasonTimeout); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
}

// The time limit is that of the server if it is shorter. A handler may run longer than the time limit.
func TestTheTimeLimitIsOnlyForTheBody(t *testing.T) {
	done := make(chan error, 1)
	v := verifier(t)
	server := httptest.NewUnstartedServer(v.Handler(func(_ http.ResponseWriter, r *http.Request, _ *webhook.Event) {
		select {
		case <-r.Context().Done():
			done <- r.Context().Err()
		case <-time.After(3 * time.Second / 2):
			done <- nil
		}
	}, webhook.WithReadTimeout(time.Hour)))
	server.Config.ReadTimeout = time.Second
	server.Start()
	defer server.Close()
	if got := answered(t, begin(t, server, len(paid), paid[:20])); got != "HTTP/1.1 408 Request Timeout" {
		t.Fatal(got)
	}
	if got := answered(t, begin(t, server, len(paid), paid)); got != "HTTP/1.1 200 OK" {
		t.Fatal(got)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestASenderThatDisconnects(t *testing.T) {
	server, refused := receiver(t, verifier(t))
	for _, body := range []string{"", paid[:20]} {
		for _, reset := range []bool{false, true} {
			connection := begin(t, server, len(paid), body)
			if reset {
				if err := connection.SetLinger(0); err != nil {
					t.Fatal(err)
				}
			}
			connection.Close()
			refusal(t, refused, webhook.ErrConnection, webhook.ReasonDisconnected)
		}
	}
}
