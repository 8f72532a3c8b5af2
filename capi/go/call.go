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
	"time"

	"billcore/internal/handle"
	"billcore/internal/model"
)

// call holds the C options, cancel token and hooks of one library call; begin makes them from a Go context.
type call struct {
	options *C.billcore_options
	cancel  *C.billcore_cancel
	hooks   cgo.Handle
}

// maxCalls is the largest number of calls of a client that run at once. Each call occupies a thread, and the Go runtime
// ends a process that has ten thousand threads. If maxCalls calls are running, a new call waits until one of them ends;
// the waiting call fails if its context is done or its time-out passes first.
const maxCalls = 1000

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

// timeoutOf returns the time-out (milliseconds) to pass to the C library: the time left after the call has waited for a
// slot. waited is how long the call waited. For a negative time-out, the C library uses the client's own time-out.
func (c *Client) timeoutOf(ctx context.Context, waited time.Duration) int64 {
	timeout, most := int64(-1), c.timeout
	if most >= 0 && waited > 0 {
		most = max(0, most-waited)
		timeout = max(1, handle.Milliseconds(most))
	}
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); most < 0 || left < most {
			timeout = max(1, handle.Milliseconds(left))
		}
	}
	return timeout
}

// begin makes the C options, cancel token and hooks of a call. timeout is the result of timeoutOf, or -1 for a list.
func (c *Client) begin(ctx context.Context, timeout int64) (*call, error) {
	out := new(call)
	cancellable := ctx.Done() != nil
	if c.hooks != nil {
		out.hooks = cgo.NewHandle(&hooked{c.hooks, ctx})
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
	C.bc_call_free(c.options, c.cancel)
	c.options, c.cancel = nil, nil
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

// run waits for a slot, calls do() once with C options made from ctx, and returns the library's result or an error.
func (c *Client) run(ctx context.Context, do func(client *C.billcore_client, call *C.billcore_options) C.bg_made) (C.bg_made, error) {
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
	waited, err := c.acquire(ctx)
	if err != nil {
		return none, err
	}
	defer func() { <-c.slots }()
	call, err := c.begin(ctx, c.timeoutOf(ctx, waited))
	if err != nil {
		return none, err
	}
	defer call.free()
	stop := call.watch(ctx)
	made := do(native, call.options)
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

// acquire takes one of the client's maxCalls slots and returns how long it waited for the slot; 0 when one was free.
func (c *Client) acquire(ctx context.Context) (time.Duration, error) {
	select {
	case c.slots <- struct{}{}:
		return 0, nil
	default:
	}
	began := C.bc_now()
	var late <-chan time.Time
	if c.timeout >= 0 {
		timer := time.NewTimer(c.timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case c.slots <- struct{}{}:
		return time.Duration(C.bc_now() - began), nil
	case <-ctx.Done():
		return 0, ended(reason(ctx))
	case <-late:
		return 0, model.NewError(ErrTimeout, "%d calls of the client run at once, and none of them ended within the time-out: nothing was sent", maxCalls)
	}
}
