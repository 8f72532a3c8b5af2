package webhook

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"billcore.example/go/internal/model"
)

// HandlerOption is an option of the methods Handler and Middleware.
type HandlerOption func(*receiver)

type receiver struct {
	refused func(r *http.Request, err error)
	timeout time.Duration
}

// DefaultReadTimeout is the time limit for a body without the option WithReadTimeout.
const DefaultReadTimeout = 10 * time.Second

// WithReadTimeout sets the time limit for the whole body, after which Handler and Middleware answer 408; 0 means that
// only the ReadTimeout of the http.Server applies. The limit needs a ResponseWriter that [http.ResponseController] can
// use, as that of an http.Server is. That of [http.TimeoutHandler], and of a middleware without the method Unwrap, is
// not: then set ReadTimeout of the http.Server. Set its ReadHeaderTimeout in any case: it limits the time for the head
// of the request.
func WithReadTimeout(limit time.Duration) HandlerOption {
	return func(to *receiver) { to.timeout = limit }
}

// WithOnRefused sets a function that can log or count refused requests. Handler and Middleware call this function for
// each refused request, before they write the answer.
func WithOnRefused(tell func(r *http.Request, err error)) HandlerOption {
	return func(to *receiver) { to.refused = tell }
}

// Handler returns an http.Handler that receives webhooks: it limits the body's size, verifies and parses the body,
// and calls the function handle with the event. handle writes the answer; if handle writes nothing, the answer is
// 200. Handler refuses these requests:
//   - 413, 401 or 400: the verification failed (the HTTPStatus of the error); a Content-Length over the limit is refused
//     before any of the body is read
//   - 400: the signature is right, but the body is not an event, or a receiver cannot store it (Event.RequireClaimable)
//   - 405: the method is not POST
//   - 408: the body did not arrive in time (WithReadTimeout)
//   - 499: the sender disconnected before the end of the body, so nobody receives the answer
//
// The event is closed when handle returns: copy the values that you need later, or store Event.Raw and pass it to
// ParseUnverified later.
func (v *Verifier) Handler(handle func(w http.ResponseWriter, r *http.Request, event *Event), options ...HandlerOption) http.Handler {
	return v.Middleware(options...)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handle != nil {
			handle(w, r, EventOf(r.Context()))
		}
	}))
}

type eventKey struct{}

// EventOf returns the event of a request that Middleware has verified; nil for other requests.
func EventOf(ctx context.Context) *Event {
	if ctx == nil {
		return nil
	}
	event, _ := ctx.Value(eventKey{}).(*Event)
	return event
}

// Middleware receives webhooks as Handler does, but passes the event to the next handler in the context of the request:
// see EventOf.
func (v *Verifier) Middleware(options ...HandlerOption) func(http.Handler) http.Handler {
	made := receiver{timeout: DefaultReadTimeout}
	for _, option := range options {
		if option != nil {
			option(&made)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			event, status, err := v.receive(w, r, made.timeout)
			if err != nil {
				if made.refused != nil {
					made.refused(r, err)
				}
				if status == http.StatusMethodNotAllowed {
					w.Header().Set("Allow", http.MethodPost)
				}
				http.Error(w, http.StatusText(status), status)
				return
			}
			defer event.Close()
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), eventKey{}, event)))
		})
	}
}

// receive returns the event; or, for a refused request, the HTTP status of the answer and the error.
func (v *Verifier) receive(w http.ResponseWriter, r *http.Request, timeout time.Duration) (*Event, int, error) {
	if r.Method != http.MethodPost {
		return nil, http.StatusMethodNotAllowed, model.NewError(model.ErrInvalidArgument, "a webhook is a POST, not a %s", r.Method)
	}
	if v == nil || v.handle.Closed() {
		_, err := v.use()
		return nil, http.StatusInternalServerError, err
	}
	body, err := v.read(w, r, timeout)
	if err != nil {
		// The rest of the body is not read, so the connection cannot be used again.
		w.Header().Set("Connection", "close")
		return nil, status(err, http.StatusBadRequest), err
	}
	event, err := v.UnwrapHeader(body, r.Header)
	if err == nil {
		if err = event.RequireClaimable(); err == nil {
			return event, http.StatusOK, nil
		}
		event.Close()
	}
	return nil, status(err, http.StatusInternalServerError), err
}

func status(err error, otherwise int) int {
	var told *Error
	if errors.As(err, &told) && told.Reason != model.ReasonNone {
		return told.Reason.HTTPStatus()
	}
	if errors.Is(err, model.ErrDecode) {
		return http.StatusBadRequest
	}
	return otherwise
}

// read returns the body, or the error of a body that is too large, that is late or that is cut short.
func (v *Verifier) read(w http.ResponseWriter, r *http.Request, timeout time.Duration) ([]byte, error) {
	if r.Body == nil { // only a request that was not received by an HTTP server, for example in a test, has no Body
		r.Body = http.NoBody
	}
	if r.ContentLength > v.maxBody {
		return nil, refusal(model.ErrSignature, ReasonBodyTooLarge, nil, "the body has %d bytes, over max_body (%d)", r.ContentLength, v.maxBody)
	}
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	if server != nil && server.ReadTimeout > 0 && (timeout <= 0 || server.ReadTimeout < timeout) {
		timeout = server.ReadTimeout
	}
	if timeout > 0 { // at the end of the body, net/http clears the deadline
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
	}
	// Read up to one byte more than the limit, so that the verifier can detect and refuse a body that is too large.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, min(v.maxBody, math.MaxInt64-1)+1))
	var failed net.Error
	switch tooLarge := new(http.MaxBytesError); {
	case err == nil || errors.As(err, &tooLarge):
		return body, nil
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &failed) && failed.Timeout():
		return nil, refusal(model.ErrTimeout, ReasonTimeout, err, "the body did not arrive within %s", timeout)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || r.Context().Err() != nil:
		return nil, refusal(model.ErrConnection, ReasonDisconnected, err, "the sender disconnected after %d bytes of the body", len(body))
	}
	return nil, err
}

func refusal(code Code, reason Reason, cause error, format string, arguments ...any) error {
	made := model.NewError(code, reason.String()+": "+format, arguments...)
	made.Reason, made.HTTPStatus = reason, reason.HTTPStatus()
	return model.Ended(made, cause)
}
