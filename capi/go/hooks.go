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
	"time"
	"unsafe"

	"billcore/internal/handle"
)

// Attempt is one attempt of a call. An Attempt holds no header values, no bodies, and no id except in Path.
type Attempt struct {
	Number    int           // from 1
	Method    string        // such as GET
	Route     string        // such as /subscription/{id}; "(other)" for a path that is not part of the interface
	Status    int           // HTTP status; 0 before the answer, and when the answer is incomplete
	Failure   Code          // why there is no complete answer (ErrInterrupted: the attempt was cancelled); else 0
	RequestID string        // request id from the answer
	Duration  time.Duration // how long the attempt took; set after the attempt
	Wait      time.Duration // time until the next attempt; set only in OnRetry

	Sent           bool // whether any part of the request was sent; set after the attempt
	OutcomeUnknown bool // whether this is a write that may or may not have happened; set after the attempt
	// Path is set only for a write that was sent and whose context was done before the answer was complete. Path
	// contains the id and is relative to the base URL. A write for which Path is set may have happened: log a warning
	// in the hook, in case the caller of the write drops the error.
	Path string
}

// Hooks are called for every attempt of every call: for logs, metrics and traces. Each call of OnRequest is followed
// by exactly one call of OnResponse, even when the context of the call is done, or when a loop over a list ends while
// pages are in flight. Any of the hooks may be nil.
//
// Each hook runs on a goroutine of its own. The call waits until the hook returns. If pages of a list are in flight,
// the end of the loop over the list, the list's Close and its finalizer also wait for hooks. When goroutines share a
// client, several hooks may run at once. ctx is the context of the call, and may already be done. A hook may make
// other calls, but must not use the list that is being read. A panic in a hook is logged with slog.Error. Neither a
// panic nor runtime.Goexit (as in testing.T.FailNow) in a hook changes the result of the call, because the caller
// must learn whether a write was done.
type Hooks struct {
	OnRequest  func(ctx context.Context, attempt Attempt) // before an attempt
	OnResponse func(ctx context.Context, attempt Attempt) // after an attempt: answered, failed or cancelled
	OnRetry    func(ctx context.Context, attempt Attempt) // before the wait for the next attempt
}

// WithHooks sets the hooks, which are called for every attempt of every call.
func WithHooks(hooks Hooks) Option { return Option{hooks: &hooks} }

type hooked struct {
	hooks *Hooks
	ctx   context.Context
}

//export billcoreGoHook
func billcoreGoHook(given unsafe.Pointer, attempt *C.billcore_attempt) {
	told, ok := cgo.Handle(uintptr(given)).Value().(*hooked)
	if !ok {
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
	handle.Apart(func() {
		defer func() {
			if panicked := recover(); panicked != nil {
				slog.Error("billcore: a hook panicked", "panic", panicked)
			}
		}()
		hook(told.ctx, made)
	})
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
