package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// List reads a list lazily, page by page, and fetches the next pages while the caller's loop reads the current page.
// When the list's context is done, the loop ends with an error before the next page.
//
// One loop at a time may read a list: a second loop gets ErrInvalidArgument. The methods other than All and Pages are
// safe for concurrent use, may be called inside a loop over the list, and wait while the list fetches a page. Close
// frees the list; otherwise the garbage collector does.
type List[T any] struct {
	items  func(page handle.Page, count int) func(index int) T // model.Items[T]
	item   func(from handle.Pointer) T                         // model.NewRecord[T]
	failed error                                               // the error of making the list, or nil; if set, every read returns this error
	ctx    context.Context
	client *Client
	call   *call
	page   fetching

	handle  handle.Handle
	reading atomic.Bool
	given   atomic.Int64 // Number of items of the current page that the loop has returned.
	mutex   sync.Mutex   // A call to the C library locks this mutex.
	skipped int64        // Number of items of the current page that the C list counts as read.
}

func newList[T model.Returned](ctx context.Context, client *Client, operation *operation, options []ListOption) *List[T] {
	defer unused.Put(operation)
	out := &List[T]{items: model.Items[T], item: model.NewRecord[T], ctx: ctx, client: client}
	out.failed = out.begin(operation, options)
	return out
}

func (l *List[T]) begin(operation *operation, options []ListOption) error {
	if l.ctx == nil {
		return noContext()
	}
	native, err := l.client.use()
	if err != nil {
		return err
	}
	defer l.client.handle.Done()
	query, err := nativeOptions(C.BILLCORE_OPTIONS_OF_LIST, options)
	if err != nil {
		return err
	}
	defer C.billcore_options_free(query)
	// The argument -1 sets no time-out, because a time-out in the C options would apply to each page. The context's
	// deadline applies to the whole list: when the context is done, fetch() ends.
	if l.call, err = l.client.begin(l.ctx, -1, false, nil); err != nil {
		return err
	}
	l.call.hooked.wait()
	name, n, arguments, size := operation.native()
	made := C.bc_list(native, name, n, arguments, size, query, l.call.options)
	if made.status != C.BILLCORE_OK {
		l.call.free()
		return failure(made, nil)
	}
	l.page.list = (*C.billcore_list)(made.out)
	call, reactor := l.call, l.client.reactor
	reactor.hold()
	l.handle.Set(made.out, func(pointer unsafe.Pointer) {
		reactor.mutex.Lock()
		C.billcore_list_free((*C.billcore_list)(pointer))
		reactor.mutex.Unlock()
		call.hooked.catchUp()
		call.free()
		reactor.release()
	}, 0)
	runtime.SetFinalizer(l, (*List[T]).Close)
	return nil
}

// Close frees the list and its prefetched pages; items that the list has already returned stay valid. Closing again
// does nothing.
func (l *List[T]) Close() {
	if l != nil {
		l.handle.Close()
	}
}

// use locks the C list, marks the items that the loop has returned as read, and returns the C list. The caller must
// call l.done() afterwards.
func (l *List[T]) use() (*C.billcore_list, error) {
	if l == nil {
		return nil, model.NewError(ErrInvalidArgument, "the list is nil")
	}
	if l.failed != nil {
		return nil, l.failed
	}
	pointer, ok := l.handle.Use()
	if !ok {
		return nil, model.NewError(ErrConfig, "the list is closed: make a new one")
	}
	native := (*C.billcore_list)(pointer)
	l.mutex.Lock()
	given := l.given.Load()
	if given > l.skipped {
		var made C.bg_made
		l.locked(func() { made = C.bc_skip(native, C.size_t(given-l.skipped)) })
		if made.status != C.BILLCORE_OK {
			l.done()
			return nil, failure(made, nil)
		}
		l.skipped = given
	}
	return native, nil
}

// locked calls a function that uses the C list, which shares the lock of the loop that reads it.
func (l *List[T]) locked(do func()) {
	l.client.reactor.mutex.Lock()
	defer l.client.reactor.mutex.Unlock()
	do()
}

func (l *List[T]) done() {
	l.mutex.Unlock()
	l.handle.Done()
}

// All reads the list from the current position: the first item, or the item after the last one that an earlier loop
// returned. After an error the loop ends; the next loop requests the failed page again. Leaving the loop early
// cancels the prefetch.
func (l *List[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := l.loop(func(native *nativePage) bool {
			at := l.items(native, native.count)
			for i := range native.count {
				l.given.Store(int64(i) + 1)
				if !yield(at(i), nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// Pages reads from the current position as All does, but returns whole pages. The first page lacks the items that an
// earlier loop returned.
func (l *List[T]) Pages() iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		var failed error
		err := l.loop(func(native *nativePage) bool {
			at := l.items(native, native.count)
			out := Page[T]{Items: make([]T, native.count)}
			for i := range out.Items {
				out.Items[i] = at(i)
			}
			if out.Pagination, failed = native.numbers(); failed != nil {
				return false
			}
			l.given.Store(int64(native.count))
			return yield(out, nil)
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			yield(Page[T]{}, err)
		}
	}
}

// loop passes each page to the function take until take returns false. loop returns the error that ended the reading,
// if any.
func (l *List[T]) loop(take func(*nativePage) bool) error {
	if l != nil && l.failed == nil {
		if !l.reading.CompareAndSwap(false, true) {
			return model.NewError(ErrInvalidArgument, "the list is being read already: one loop at a time")
		}
		ended := false
		defer func() { l.leave(ended) }() // deferred, so that leave() also runs when the loop's body panics
		for {
			page, err := l.next()
			if err != nil {
				ended = true
				if errors.Is(err, errDone) {
					return nil
				}
				return err
			}
			if !take(page) {
				return nil
			}
		}
	}
	_, err := l.use()
	return err
}

// textAndParsed is the estimated C memory of an item, as a multiple of the length of its text.
const textAndParsed = 2

var errDone = errors.New("the list is at its end")

// next marks the current page as read and returns the next one.
func (l *List[T]) next() (*nativePage, error) {
	native, err := l.use()
	if err != nil {
		return nil, err
	}
	defer l.done()
	l.given.Store(0)
	l.skipped = 0
	var page C.bc_page
	err = l.fetch(func() (C.billcore_status, *C.billcore_error) {
		page = C.bc_next_page(native)
		return page.status, page.err
	})
	if err != nil {
		C.billcore_page_free(page.page)
		return nil, err
	}
	return newPage(page.page, int(page.count), int64(page.count)*(textAndParsed*int64(page.item_bytes)+1)), nil
}

// fetching is the fetch of a list's next page, as a call on the loop.
type fetching struct{ list *C.billcore_list }

func (f *fetching) start(loop *C.bc_loop, _ nativeCall) C.bc_started { return C.bc_fetch(loop, f.list) }

// fetch waits until the next page is here, then calls a C function that reads it.
func (l *List[T]) fetch(read func() (C.billcore_status, *C.billcore_error)) error {
	if err := reason(l.ctx); err != nil {
		return ended(err)
	}
	reactor := l.client.reactor
	reactor.calls.Add(1)
	_, err := reactor.run(l.ctx, l.client, &l.page, l.call)
	reactor.calls.Add(-1)
	if err != nil {
		return err
	}
	var status C.billcore_status
	var failed *C.billcore_error
	l.locked(func() { status, failed = read() })
	switch status {
	case C.BILLCORE_OK:
		return nil
	case C.BILLCORE_DONE:
		return errDone
	}
	return model.TakeError(int32(status), handle.Pointer{C: unsafe.Pointer(failed)}, causeOf(l.ctx, status))
}

// loop() calls leave() at its end. ended is false when the caller left the loop early; in this case leave() cancels
// the prefetch.
func (l *List[T]) leave(ended bool) {
	if !ended {
		if native, err := l.use(); err == nil {
			l.locked(func() { C.billcore_error_free(C.bc_stop(native).err) })
			l.given.Store(0) // the C list's next page begins after the items already returned
			l.skipped = 0
			l.done()
		}
	}
	l.call.hooked.catchUp()
	l.reading.Store(false)
}

// First returns the list's first item and does not change the position. First sends at most one request. The second
// result is false when the list is empty.
func (l *List[T]) First() (T, bool, error) {
	var none T
	native, err := l.use()
	if err != nil {
		return none, false, err
	}
	defer l.done()
	var made C.bg_made
	err = l.fetch(func() (C.billcore_status, *C.billcore_error) {
		made = C.bc_first(native)
		return made.status, made.err
	})
	if errors.Is(err, errDone) {
		return none, false, nil
	}
	if err != nil {
		return none, false, err
	}
	return l.item(handle.Pointer{C: made.out}), true, nil
}

// Standing is the position and the progress of a list.
type Standing struct {
	// State is the position as a text, which ListResume (or its equivalent in another language) accepts: the resumed
	// list continues after the last item returned, even after an error. State contains ids, but no secrets: the ids of
	// the pages read last (18 pages, or 2 * concurrency + 2 if that is more), at most 4096 ids. State has about 4 KB if
	// a page has 20 records, and 39 KB if a page has 200.
	State        string
	Total        int64 // Number of records in the whole list, according to the page read last.
	HasTotal     bool
	FetchedPages int64

	// Complete reports whether the list returned every record that existed from the beginning to the end of the
	// reading. HasVerdict is set after the last item, after Stop, and after the caller left the loop early; Complete
	// and Reason are valid only when HasVerdict is set.
	HasVerdict bool
	Complete   bool
	// Reason says why the list may have missed a record, for example "total_changed" or "stopped". The reason
	// "may_repeat" means that the list grew by more records than the number of ids in State, so the list may have
	// missed records and returned others twice; drop duplicates by id.
	Reason string
}

// Standing returns the position and the progress of the list, without sending a request.
func (l *List[T]) Standing() (Standing, error) {
	native, err := l.use()
	if err != nil {
		return Standing{}, err
	}
	defer l.done()
	var s C.bc_standing
	l.locked(func() { s = C.bc_standing_of(native) })
	defer C.billcore_buf_free(&s.state)
	if s.status != C.BILLCORE_OK {
		return Standing{}, model.TakeError(int32(s.status), handle.Pointer{C: unsafe.Pointer(s.err)}, nil)
	}
	return Standing{
		State: handle.String(unsafe.Pointer(s.state.data), s.state.len), Total: int64(s.total), HasTotal: bool(s.has_total),
		FetchedPages: int64(s.pages), HasVerdict: bool(s.has_verdict), Complete: bool(s.complete), Reason: text(s.reason),
	}, nil
}

// Stop cancels the prefetch, that is, the requests for pages that the loop has not reached yet. After Stop, the caller
// may still read the list. At the end of the list Stop does nothing. Leaving a loop early cancels the prefetch, as Stop
// does.
func (l *List[T]) Stop() error {
	native, err := l.use()
	if err != nil {
		return err
	}
	defer l.done()
	var made C.bg_made
	l.locked(func() { made = C.bc_stop(native) })
	l.call.hooked.catchUp()
	if made.status != C.BILLCORE_OK {
		return failure(made, nil)
	}
	return nil
}
