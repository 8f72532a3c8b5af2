// Package handle owns objects of the C library: it frees them once, and never while a call uses them.
package handle

import (
	"bytes"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
	"unsafe"
)

// Pointer is an object of the C library on its way between the packages of this module.
type Pointer struct{ C unsafe.Pointer }

// String copies a text of the C library. C.GoStringN takes no length over 2 GiB.
func String[Size ~uint32 | ~uint64](data unsafe.Pointer, length Size) string {
	return string(unsafe.Slice((*byte)(data), length))
}

// Bytes does the same; nil when there is nothing.
func Bytes[Size ~uint32 | ~uint64](data unsafe.Pointer, length Size) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(data), length))
}

// Apart runs what C called back for on a goroutine of its own, and waits: runtime.Goexit on the goroutine that C was called
// on would leave C where it is, with the connection and the memory that it holds.
func Apart(run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	<-done
}

// Event is an event of the C library with what every reader needs, as it crosses in one call.
type Event struct {
	Event          unsafe.Pointer
	ID             string
	Kind, DataKind int32
}

// Handle owns one object of the C library, or nothing. It must not be copied.
type Handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	users   atomic.Int64 // calls that use it; far below zero once it is closed
	bytes   int64
}

const closed = -1 << 62

// Set gives an empty handle its object. bytes is an estimate of the memory that C holds for it.
func (h *Handle) Set(pointer unsafe.Pointer, free func(unsafe.Pointer), bytes int64) {
	h.pointer, h.free, h.bytes = pointer, free, bytes
	if bytes > 0 {
		hold(bytes)
	}
}

// Use gives the object, which stays valid until Done. False, and no Done, when there is none or it is closed.
func (h *Handle) Use() (unsafe.Pointer, bool) {
	if h == nil || h.pointer == nil {
		return nil, false
	}
	if h.users.Add(1) < 0 {
		h.Done()
		return nil, false
	}
	return h.pointer, true
}

// Done ends a use.
func (h *Handle) Done() {
	if h.users.Add(-1) == closed {
		h.release()
	}
}

// Close frees the object, or lets the last use free it. Closing again does nothing.
func (h *Handle) Close() {
	if h == nil || h.pointer == nil {
		return
	}
	for {
		users := h.users.Load()
		if users < 0 {
			return
		}
		if h.users.CompareAndSwap(users, users+closed) {
			if users == 0 {
				h.release()
			}
			return
		}
	}
}

// Closed reports whether Close was called.
func (h *Handle) Closed() bool { return h.users.Load() < 0 }

// release runs once: a late Use adds to users and takes it back, so the count may be at closed several times.
func (h *Handle) release() {
	if h.users.CompareAndSwap(closed, closed+1<<61) {
		h.free(h.pointer)
		if h.bytes > 0 {
			held.Add(-h.bytes)
		}
	}
}

// The garbage collector does not see the memory of C: a program that reads long lists would collect too late. So a
// collection starts here when the pages that wait for one hold as much as the heap of Go, which is what its own pace is
// by default.
const leastHeld = 8 << 20

var (
	held       atomic.Int64
	limit      atomic.Int64
	collecting atomic.Bool
)

func init() { limit.Store(leastHeld) }

func hold(bytes int64) {
	if held.Add(bytes) > limit.Load() && collecting.CompareAndSwap(false, true) {
		collect()
		collecting.Store(false)
	}
}

func collect() {
	done := make(chan struct{})
	runtime.SetFinalizer(new(*int), func(**int) { close(done) })
	runtime.GC()
	select {
	case <-done: // finalizers run one after the other, after the collection
	case <-time.After(100 * time.Millisecond): // not where the caller is a finalizer itself
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	heap := int64(0)
	if live[0].Value.Kind() == metrics.KindUint64 {
		heap = int64(live[0].Value.Uint64())
	}
	limit.Store(max(leastHeld, 2*held.Load(), heap))
}
