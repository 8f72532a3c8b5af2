// Package handle owns objects of the C library: it frees each object exactly once, and never while a call uses the
// object.
package handle

import (
	"bytes"
	"sync/atomic"
	"unsafe"

	_ "billcore.example/go/internal/native" // links the C library
)

// Pointer points to an object of the C library; it is a type that the packages of this module can pass to each other.
type Pointer struct{ C unsafe.Pointer }

// String copies a text that the C library owns into a Go string. C.GoStringN cannot replace String, because C.GoStringN
// accepts only lengths up to 2 GiB.
func String[Size ~uint32 | ~uint64](data unsafe.Pointer, length Size) string {
	return string(unsafe.Slice((*byte)(data), length))
}

// Bytes copies bytes that the C library owns into a Go slice; nil when data is nil.
func Bytes[Size ~uint32 | ~uint64](data unsafe.Pointer, length Size) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(data), length))
}

// Apart runs a callback of C on a separate goroutine, and waits until the callback ends. On the goroutine that called
// C, runtime.Goexit in the callback would abandon the C function, which would then never free its connection and
// memory.
func Apart(run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	<-done
}

// Event is an event of the C library, together with its id and kinds, which one call to C returns.
type Event struct {
	Event          unsafe.Pointer
	ID             string
	Kind, DataKind int32
}

// Handle owns at most one object of the C library. A Handle must not be copied.
type Handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	users   atomic.Int64 // Number of calls that use the object, plus the constant `closed` (negative) after Close.
	ballast []byte       // Unused memory whose size makes the garbage collector run in time: see Set.
}

// ballastShare is the estimated size of an object's C memory divided by the size of the handle's ballast: see Set.
const ballastShare = 4

const closed = -1 << 62

// Set stores the object that an empty handle then owns. bytes is an estimate of the object's C memory. Go's garbage
// collector does not count C memory, so the collector would run too late in a program that reads long lists. To make
// the collector run in time, the handle keeps unused Go memory (the ballast), which the collector counts.
func (h *Handle) Set(pointer unsafe.Pointer, free func(unsafe.Pointer), bytes int64) {
	h.pointer, h.free = pointer, free
	if bytes > 0 {
		h.ballast = make([]byte, bytes/ballastShare)
	}
}

// Use returns the object, which stays valid until Done. When the handle is empty or closed, Use returns false, and Done
// must not be called.
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

// Done ends one use of the object, which began with Use. The last Done after Close frees the object.
func (h *Handle) Done() {
	if h.users.Add(-1) == closed {
		h.release()
	}
}

// Close frees the object at once or, while calls use the object, when the last of these calls ends. Closing again does
// nothing.
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

// release frees the object when it is called for the first time; later calls do nothing. release may be called several
// times, because Use increments `users` and decrements it again even after Close.
func (h *Handle) release() {
	if h.users.CompareAndSwap(closed, closed+1<<61) {
		h.free(h.pointer)
	}
}
