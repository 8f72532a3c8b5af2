package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"billcore.example/go/internal/model"
)

// reactor runs the calls of a client, and of the clients made from it by With, on one loop of the C library: a call in
// flight is a parked goroutine, whatever the number of calls. The goroutine that makes a call starts it on the loop,
// which may send the request at once. One goroutine waits in Go's poller for the loop's descriptor, and wakes the
// goroutines whose calls have ended. The first call that needs the loop makes it.
type reactor struct {
	calls   atomic.Int64 // calls in flight, with those that block their thread
	bounded bool         // WithMaxConnections: no call may block, because a call that blocks has connections of its own

	mutex   sync.Mutex // the C library's rule for a loop, and for the lists that it reads: one thread at a time
	users   int        // clients and lists that are open
	loop    *C.bc_loop
	client  uint64   // the number of the client whose options the next call has
	ready   *os.File // becomes readable when the loop has work
	waiting map[C.billcore_ticket]*waiter
}

// waiter is a call in flight on the loop.
type waiter struct {
	done   chan struct{} // receives one value when `made` is set
	made   C.bg_made
	ticket C.billcore_ticket
}

var waiters = sync.Pool{New: func() any { return &waiter{done: make(chan struct{}, 1)} }}

func (r *reactor) hold() {
	r.mutex.Lock()
	r.users++
	r.mutex.Unlock()
}

// release frees the loop when its last user has left. A client stays a user until its calls have ended.
func (r *reactor) release() {
	r.mutex.Lock()
	r.users--
	loop, ready := r.loop, r.ready
	last := r.users == 0 && loop != nil
	if last {
		r.loop = nil
	}
	r.mutex.Unlock()
	if last {
		_ = ready.Close() // ends serve(), which may wait for the mutex; so not while it is locked
		C.bc_loop_free(loop)
	}
}

// open makes the loop if there is none. The caller has locked the mutex.
func (r *reactor) open(client *Client) error {
	if r.loop != nil {
		return nil
	}
	native, err := client.use()
	if err != nil {
		return err
	}
	defer client.handle.Done()
	made := C.bc_loop_make(native)
	if made.status != C.BILLCORE_OK {
		if made.err == nil {
			return model.NewError(Code(made.status), "the process has no memory, or no free file descriptor, for a further call")
		}
		return failure(C.bg_made{err: made.err, status: made.status}, nil)
	}
	r.loop, r.client, r.waiting = made.loop, client.number, map[C.billcore_ticket]*waiter{}
	r.ready = os.NewFile(uintptr(made.descriptor), "billcore loop")
	go r.serve(r.ready)
	return nil
}

// use gives the next call the options of a client. A fetch has those of its list.
func (r *reactor) use(client *Client) error {
	if r.client == client.number {
		return nil
	}
	native, err := client.use()
	if err != nil {
		return err
	}
	defer client.handle.Done()
	if made := C.bc_use(r.loop, native); made.status != C.BILLCORE_OK {
		return failure(made, nil)
	}
	r.client = client.number
	return nil
}

// serve processes the loop until release() closes its file.
func (r *reactor) serve(ready *os.File) {
	raw, err := ready.SyscallConn()
	if err != nil {
		return // the file is closed already
	}
	var ended []*waiter
	_ = raw.Read(func(uintptr) bool {
		for more := true; more; {
			var open bool
			if more, open, ended = r.process(ended[:0]); !open {
				return true
			}
			for _, one := range ended {
				one.done <- struct{}{}
			}
		}
		return false // wait for the next edge of the descriptor: see billcore_loop_process
	})
}

// process advances the calls, and appends those that have ended. open is false after the loop was freed.
func (r *reactor) process(ended []*waiter) (more, open bool, _ []*waiter) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.loop == nil {
		return false, false, ended
	}
	did := C.bc_process(r.loop)
	if did.failed {
		time.Sleep(time.Millisecond)
	}
	return bool(did.more), true, r.taken(did, ended)
}

// taken appends the calls whose ends the library has told.
func (r *reactor) taken(did C.bc_processed, ended []*waiter) []*waiter {
	for i := range int(did.ends) {
		end := &r.loop.ends[i]
		one := r.waiting[end.ticket]
		delete(r.waiting, end.ticket)
		one.made = end.made
		ended = append(ended, one)
	}
	return ended
}

// beginning is what run() begins.
type beginning interface {
	start(loop *C.bc_loop, call nativeCall) C.bc_started
}

// run begins a call, whose hooks were told to wait, and waits for its end.
func (r *reactor) run(ctx context.Context, client *Client, what beginning, call *call) (C.bg_made, error) {
	w, err := r.start(client, what, call.options)
	if err != nil {
		return C.bg_made{}, err
	}
	if ctx.Done() != nil {
		ticket := w.ticket
		defer context.AfterFunc(ctx, func() { r.cancel(ticket) })()
	}
	call.hooked.await(w.done)
	made := w.made
	w.made = C.bg_made{}
	waiters.Put(w)
	if made.status != C.BILLCORE_OK {
		return C.bg_made{}, failure(made, causeOf(ctx, made.status))
	}
	return made, nil
}

func (r *reactor) start(client *Client, what beginning, call nativeCall) (*waiter, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.open(client); err != nil {
		return nil, err
	}
	_, fetches := what.(*fetching)
	if !fetches {
		if err := r.use(client); err != nil {
			return nil, err
		}
	}
	started := what.start(r.loop, call)
	if started.status != C.BILLCORE_OK {
		return nil, failure(C.bg_made{err: started.err, status: started.status}, nil)
	}
	w := waiters.Get().(*waiter)
	w.ticket = started.ticket
	r.waiting[w.ticket] = w
	if fetches { // of a page that was prefetched: its end is here
		var room [1]*waiter
		for _, one := range r.taken(C.bc_take(r.loop), room[:0]) {
			one.done <- struct{}{}
		}
	}
	return w, nil
}

// cancel ends a call, whose end says what happened to it. The library ignores the ticket of a call that has ended.
func (r *reactor) cancel(ticket C.billcore_ticket) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.loop != nil {
		C.bc_cancel(r.loop, ticket)
	}
}
