// Package handle owns objects of the C library: it frees them once, and never while a call uses them.
package handle

import (
	"bytes"
	"sync/atomic"
	"unsafe"

	_ "billcore/internal/cgo" // fails first where cgo is off
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
	ballast []byte       // see Set
}

// ballastShare: the ballast of a handle is this part of the memory that C holds for it.
const ballastShare = 4

const closed = -1 << 62

// Set gives an empty handle its object. bytes is an estimate of the memory that C holds for it. The garbage collector does
// not see that memory, and would collect too late in a program that reads long lists. So the handle also holds unused memory
// of Go, which the collector counts.
func (h *Handle) Set(pointer unsafe.Pointer, free func(unsafe.Pointer), bytes int64) {
	h.pointer, h.free = pointer, free
	if bytes > 0 {
		h.ballast = make([]byte, bytes/ballastShare)
	}
}

// Use returns the object, which stays valid until Done. False, and no Done, when there is none or it is closed.
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
	}
}
