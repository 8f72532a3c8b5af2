package webhook

/*
#include <stdint.h>
*/
import "C"

import (
	"runtime/cgo"
	"time"
	"unsafe"
)

// A panic of the clock must not cross C: an instant that nothing is fresh at refuses the event.
const noInstant = -1 << 62

//export billcoreGoClock
func billcoreGoClock(clock unsafe.Pointer) (micros C.int64_t) {
	micros = noInstant
	defer func() { _ = recover() }()
	now, ok := cgo.Handle(uintptr(clock)).Value().(func() time.Time)
	if !ok {
		return noInstant
	}
	return C.int64_t(now().UnixMicro())
}
