package webhook

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"

	"billcore/internal/bridge"
	"billcore/model"
)

// HandlerOption is an option of the methods Handler and Middleware.
type HandlerOption func(*receiver)

type receiver struct {
	refused func(r *http.Request, err error)
}

// WithOnRefused sets a function that can log or count refused requests. Handler and Middleware call this function for
// each refused request, before they write the answer.
func WithOnRefused(tell func(r *http.Request, err error)) HandlerOption {
	return func(to *receiver) { to.refused = tell }
}

// Handler returns an http.Handler that receives webhooks: it limits the body's size, verifies and parses the body,
// and calls the function handle with the event. handle writes the answer; if handle writes nothing, the answer is
// 200. Handler answers a request that fails verification with the HTTPStatus of the error (413, 401 or 400), a
// request with a method other than POST with 405, and a request whose body is cut short with 400. When the signature
// is right but the body is not an event, the answer is 500, so that the service sends the event again. The event is
// closed when handle returns: copy the values that you need later, or store Event.Raw and pass it to ParseUnverified
// later.
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
	var made receiver
	for _, option := range options {
		if option != nil {
			option(&made)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			event, status, err := v.receive(w, r)
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
func (v *Verifier) receive(w http.ResponseWriter, r *http.Request) (*Event, int, error) {
	if r.Method != http.MethodPost {
		return nil, http.StatusMethodNotAllowed, bridge.NewError(model.ErrInvalidArgument, "a webhook is a POST, not a %s", r.Method)
	}
	if v == nil || v.handle.Closed() {
		_, err := v.use()
		return nil, http.StatusInternalServerError, err
	}
	if r.Body == nil { // only a request that was not received by an HTTP server, for example in a test, has no Body
		r.Body = http.NoBody
	}
	// Read up to one byte more than the limit, so that the verifier can detect and refuse a body that is too large.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, min(v.maxBody, math.MaxInt64-1)+1))
	if tooLarge := new(http.MaxBytesError); err != nil && !errors.As(err, &tooLarge) {
		return nil, http.StatusBadRequest, err // the body was cut short
	}
	event, err := v.UnwrapHeader(body, r.Header)
	if err == nil {
		return event, http.StatusOK, nil
	}
	var told *Error
	if errors.As(err, &told) && told.Code == model.ErrSignature && told.HTTPStatus != 0 {
		return nil, told.HTTPStatus, err
	}
	return nil, http.StatusInternalServerError, err
}
