package webhook

/*
#include <stdint.h>
*/
import "C"

import (
	"runtime/cgo"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
)

// noInstant is the time that C gets when the clock of WithClock panics or calls runtime.Goexit, neither of which may
// unwind C code. No event is fresh at noInstant, so the verifier refuses the event.
const noInstant = -1 << 62

//export billcoreGoClock
func billcoreGoClock(clock unsafe.Pointer) (micros C.int64_t) {
	now, ok := cgo.Handle(uintptr(clock)).Value().(func() time.Time)
	if !ok {
		return noInstant
	}
	micros = noInstant
	handle.Apart(func() {
		defer func() { _ = recover() }()
		micros = C.int64_t(now().UnixMicro())
	})
	return micros
}
