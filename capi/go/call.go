package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"sync/atomic"
	"time"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// call holds the C options, cancel token and hooks of one library call; begin makes them from a Go context.
type call struct {
	options *C.billcore_options
	cancel  *C.billcore_cancel
	hooked  *hooked    // nil: the client has no hooks
	hooks   cgo.Handle // of hooked
}

func noContext() error {
	return model.NewError(ErrInvalidArgument, "the context is nil: use context.Background()")
}

// reason returns the context's error, together with the cause that was passed to context.WithCancelCause; nil when
// the context is not done.
func reason(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// ended returns the error of a call whose context was done before anything was sent.
func ended(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return model.Ended(model.NewError(ErrTimeout, "the context's deadline passed before the request: nothing was sent"), cause)
	}
	return model.Ended(model.NewError(ErrInterrupted, "the context was cancelled before the request: nothing was sent"), cause)
}

// timeoutOf returns the time-out (milliseconds) to pass to the C library: the time until the context's deadline if it is
// the earlier one. For a negative time-out, the C library uses the client's own time-out.
func (c *Client) timeoutOf(ctx context.Context) int64 {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); c.timeout < 0 || left < c.timeout {
			return max(1, handle.Milliseconds(left))
		}
	}
	return -1
}

// begin makes the C options and hooks of a call. timeout is the result of timeoutOf, or -1 for a list. The call has a
// cancel token if it is cancellable.
func (c *Client) begin(ctx context.Context, timeout int64, cancellable bool, limited *atomic.Bool) (*call, error) {
	out := new(call)
	if c.hooks != nil || limited != nil {
		out.hooked = &hooked{hooks: c.hooks, ctx: ctx, told: make(chan struct{}, 1), limited: limited}
		out.hooks = cgo.NewHandle(out.hooked)
	}
	if !cancellable && timeout < 0 && out.hooks == 0 {
		return out, nil
	}
	made := C.bc_call_new(C.bool(cancellable), C.int64_t(timeout), C.uintptr_t(out.hooks))
	out.options, out.cancel = made.options, made.cancel
	if made.status != C.BILLCORE_OK {
		out.free()
		return nil, failure(C.bg_made{status: made.status, err: made.err}, nil)
	}
	return out, nil
}

func (c *call) free() {
	if c.options != nil || c.cancel != nil {
		C.bc_call_free(c.options, c.cancel)
		c.options, c.cancel = nil, nil
	}
	if c.hooks != 0 {
		c.hooks.Delete()
		c.hooks = 0
	}
}

// watch cancels the call when the context is done. The caller must call the returned stop() after the C call has
// returned.
func (c *call) watch(ctx context.Context) (stop func()) {
	if c.cancel == nil {
		return func() {}
	}
	told := make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		C.billcore_cancel_trigger(c.cancel)
		close(told)
	})
	return func() {
		if !unregister() {
			<-told // wait until the function passed to AfterFunc no longer uses the token
		}
	}
}

// run makes a call with the C options that ctx and the client give it, and returns the library's result or an error.
func (c *Client) run(ctx context.Context, what beginning) (C.bg_made, error) {
	var none C.bg_made
	if ctx == nil {
		return none, noContext()
	}
	native, err := c.use()
	if err != nil {
		return none, err
	}
	defer c.handle.Done()
	if err := reason(ctx); err != nil {
		return none, ended(err)
	}
	var limited *atomic.Bool
	operation, blocks := what.(*operation)
	if blocks {
		limited = operation.limited
	}
	defer c.reactor.calls.Add(-1)
	blocks = c.reactor.calls.Add(1) <= blocking && blocks && !c.reactor.bounded
	call, err := c.begin(ctx, c.timeoutOf(ctx), blocks && ctx.Done() != nil, limited)
	if err != nil {
		return none, err
	}
	defer call.free()
	if !blocks {
		call.hooked.wait()
		return c.reactor.run(ctx, c, what, call)
	}
	stop := call.watch(ctx)
	made := operation.perform(native, call.options)
	stop()
	if made.status != C.BILLCORE_OK {
		return none, failure(made, causeOf(ctx, made.status))
	}
	return made, nil
}

// causeOf returns the context's error if a call with this status may have failed because the context was done (or
// almost at its deadline); nil otherwise.
func causeOf(ctx context.Context, status C.billcore_status) error {
	switch status {
	case C.BILLCORE_ERROR_INTERRUPTED, C.BILLCORE_ERROR_TIMEOUT, C.BILLCORE_ERROR_OUTCOME_UNKNOWN:
	default:
		return nil
	}
	if err := reason(ctx); err != nil {
		return err
	}
	// The library's time-out may fire a few milliseconds before the context's deadline, so treat a deadline this close
	// as passed.
	if deadline, ok := ctx.Deadline(); ok && status != C.BILLCORE_ERROR_INTERRUPTED && time.Until(deadline) < 5*time.Millisecond {
		return context.DeadlineExceeded
	}
	return nil
}
