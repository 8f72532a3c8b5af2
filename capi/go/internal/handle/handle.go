// Package handle owns objects of the C library: it frees each one once, and never while a call uses it.
package handle

import (
	"bytes"
	"sync/atomic"
	"unsafe"

	_ "billcore/internal/cgo" // fails to compile, with an explanation, when cgo is off
)

// Pointer is an object of the C library that is passed between the packages of this module.
type Pointer struct{ C unsafe.Pointer }

// String copies a text of the C library. It is used instead of C.GoStringN, which accepts no length over 2 GiB.
func String[Size ~uint32 | ~uint64](data unsafe.Pointer, length Size) string {
	return string(unsafe.Slice((*byte)(data), length))
}

// Bytes does the same for bytes; nil when data is nil.
func Bytes[Size ~uint32 | ~uint64](data unsafe.Pointer, length Size) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(data), length))
}

// Apart runs a callback of C on a goroutine of its own, and waits for it. If the callback called runtime.Goexit on
// the goroutine that called C, the C function would never return, and would keep its connection and memory.
func Apart(run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	<-done
}

// Event is an event of the C library, with the values that every reader needs; one call returns them together.
type Event struct {
	Event          unsafe.Pointer
	ID             string
	Kind, DataKind int32
}

// Handle owns one object of the C library, or nothing. It must not be copied.
type Handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	users   atomic.Int64 // number of calls that use it; Close adds the constant closed
	ballast []byte       // see Set
}

// ballastShare is the divisor of the estimated C memory that gives the size of the ballast.
const ballastShare = 4

const closed = -1 << 62

// Set gives an empty handle its object. bytes is an estimate of the memory that C holds for it. The garbage collector
// does not see that memory, so in a program that reads long lists it would collect too late. The handle therefore
// also holds unused Go memory (the ballast), which the collector counts.
func (h *Handle) Set(pointer unsafe.Pointer, free func(unsafe.Pointer), bytes int64) {
	h.pointer, h.free = pointer, free
	if bytes > 0 {
		h.ballast = make([]byte, bytes/ballastShare)
	}
}

// Use returns the object, which stays valid until Done. When there is none or it is closed, Use returns false, and
// Done must not be called.
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

// release frees the object once. A late Use adds to users and takes it back, so the count may return to closed
// several times.
func (h *Handle) release() {
	if h.users.CompareAndSwap(closed, closed+1<<61) {
		h.free(h.pointer)
	}
}
