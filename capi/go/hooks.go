package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include <billcore/hooks.h>
*/
import "C"

import (
	"context"
	"log/slog"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
)

// Attempt describes one attempt of a call, for hooks. Apart from RequestID and Path, an Attempt contains no header
// values, bodies or ids.
type Attempt struct {
	Number    int           // Number of the attempt, from 1.
	Method    string        // HTTP method, such as GET.
	Route     string        // Route, such as /subscription/{id}; "(other)" for a path that is not in the service interface.
	Status    int           // HTTP status of the answer; 0 before the answer, and when the answer is incomplete.
	Failure   Code          // Why there is no complete answer (ErrInterrupted: the attempt was cancelled); else 0.
	RequestID string        // Request id from the answer.
	Duration  time.Duration // How long the attempt took; set after the attempt.
	Wait      time.Duration // Time until the next attempt; set only in OnRetry.

	Sent           bool // Whether any part of the request was sent; set after the attempt.
	OutcomeUnknown bool // Whether the request is a write that may or may not have happened; set after the attempt.
	// Path is set only for a write that was sent and whose context was done before the answer was complete. Path
	// contains the record's id and is relative to the base URL. If Path is set, the write may have happened: log a
	// warning in the hook, in case the caller of the write ignores its error.
	Path string
}

// Hooks are functions that the client calls for every attempt of every call, for example for logs, metrics or traces.
// Each call of OnRequest is followed by exactly one call of OnResponse, even when the context of the call is done, or
// when a loop over a list ends while pages are in flight. Any of the hooks may be nil.
//
// Each hook runs on a goroutine of its own. The call waits until the hook returns, but the request may be sent before
// OnRequest is called. The hooks of a list's prefetched pages run when the loop over the list asks for its next page or
// ends; the end of the loop, Close and the finalizer wait for them. When goroutines share a client, several hooks may
// run at once. The argument ctx is the context of the call, and may already be done. A hook may make other calls, but
// must not use the list whose page is being fetched. A panic in a hook is logged with
// slog.Error. Neither a panic nor runtime.Goexit (which testing.T.FailNow calls) in a hook changes the result of the
// call, because the caller must learn whether a write was done.
type Hooks struct {
	OnRequest  func(ctx context.Context, attempt Attempt) // Called before an attempt.
	OnResponse func(ctx context.Context, attempt Attempt) // Called after an attempt that was answered, failed or was cancelled.
	OnRetry    func(ctx context.Context, attempt Attempt) // Called before the wait for the next attempt.
}

// WithHooks sets the hooks, which the client calls for every attempt of every call.
func WithHooks(hooks Hooks) Option { return Option{hooks: &hooks} }

// hooked is what the C hook of a call needs. A call on a loop calls the C hook while the loop is locked, perhaps on the
// thread of another call: the hook's turn is then kept until the goroutine of the call takes it.
type hooked struct {
	hooks   *Hooks
	ctx     context.Context
	limited *atomic.Bool // see operation

	mutex    sync.Mutex
	deferred bool
	turns    []func()
	told     chan struct{} // receives a value when a turn is kept
}

// wait makes the hooks wait for await() or catchUp().
func (h *hooked) wait() {
	if h != nil {
		h.deferred = true
	}
}

// await runs the hooks until done receives a value, and those that wait by then.
func (h *hooked) await(done <-chan struct{}) {
	if h == nil {
		<-done
		return
	}
	for waits := true; waits; {
		select {
		case <-h.told:
		case <-done:
			waits = false
		}
		h.catchUp()
	}
}

// catchUp runs the hooks whose turn was kept, in order.
func (h *hooked) catchUp() {
	if h == nil {
		return
	}
	h.mutex.Lock()
	turns := h.turns
	h.turns = nil
	h.mutex.Unlock()
	for _, turn := range turns {
		turn()
	}
}

func (h *hooked) keep(turn func()) {
	h.mutex.Lock()
	h.turns = append(h.turns, turn)
	h.mutex.Unlock()
	select {
	case h.told <- struct{}{}:
	default:
	}
}

//export billcoreGoHook
func billcoreGoHook(given unsafe.Pointer, attempt *C.billcore_attempt) {
	told, ok := cgo.Handle(uintptr(given)).Value().(*hooked)
	if !ok {
		return
	}
	if told.limited != nil && attempt.status == 429 {
		told.limited.Store(true)
	}
	if told.hooks == nil {
		return
	}
	var hook func(context.Context, Attempt)
	switch attempt.moment {
	case C.BILLCORE_MOMENT_REQUEST:
		hook = told.hooks.OnRequest
	case C.BILLCORE_MOMENT_RESPONSE:
		hook = told.hooks.OnResponse
	case C.BILLCORE_MOMENT_RETRY:
		hook = told.hooks.OnRetry
	}
	if hook == nil {
		return
	}
	made := Attempt{
		Number: int(attempt.number), Method: text(attempt.method), Route: text(attempt.route), Status: int(attempt.status),
		Failure: Code(attempt.failure), RequestID: text(attempt.request_id),
		Duration: time.Duration(attempt.duration_micros) * time.Microsecond,
		Wait:     time.Duration(attempt.wait_ms) * time.Millisecond,
		Sent:     bool(attempt.sent), OutcomeUnknown: bool(attempt.outcome_unknown), Path: text(attempt.path),
	}
	turn := func() {
		handle.Apart(func() {
			defer func() {
				if panicked := recover(); panicked != nil {
					slog.Error("billcore: a hook panicked", "panic", panicked)
				}
			}()
			hook(told.ctx, made)
		})
	}
	if told.deferred {
		told.keep(turn)
	} else {
		turn()
	}
}

func text(from C.billcore_str) string { return handle.String(unsafe.Pointer(from.data), from.len) }

// logging returns hooks that log each attempt with the given logger.
func logging(logger *slog.Logger) Hooks {
	if logger == nil {
		return Hooks{}
	}
	log := func(level slog.Level, message string) func(context.Context, Attempt) {
		return func(ctx context.Context, a Attempt) {
			attributes := []slog.Attr{slog.String("method", a.Method), slog.String("route", a.Route), slog.Int("attempt", a.Number)}
			if a.Status != 0 {
				attributes = append(attributes, slog.Int("status", a.Status))
			}
			if a.Failure != 0 {
				attributes = append(attributes, slog.String("failure", a.Failure.String()))
			}
			if a.RequestID != "" {
				attributes = append(attributes, slog.String("request_id", a.RequestID))
			}
			if a.Duration > 0 {
				attributes = append(attributes, slog.Duration("duration", a.Duration))
			}
			if a.Wait > 0 {
				attributes = append(attributes, slog.Duration("wait", a.Wait))
			}
			if a.Sent {
				attributes = append(attributes, slog.Bool("sent", true))
			}
			if a.OutcomeUnknown {
				attributes = append(attributes, slog.Bool("outcome_unknown", true))
			}
			if a.Path != "" {
				attributes = append(attributes, slog.String("path", a.Path))
			}
			logger.LogAttrs(ctx, level, message, attributes...)
		}
	}
	response := log(slog.LevelDebug, "billcore: response")
	givenUp := log(slog.LevelWarn, "billcore: interrupted after it was sent; it may or may not have happened: look before you send it again")
	return Hooks{
		OnRequest: log(slog.LevelDebug, "billcore: request"),
		OnResponse: func(ctx context.Context, a Attempt) {
			response(ctx, a)
			if a.Path != "" {
				givenUp(ctx, a)
			}
		},
		OnRetry: log(slog.LevelWarn, "billcore: retry"),
	}
}
