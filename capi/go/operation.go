package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"unsafe"
)

// operation is an operation of the C library, with its arguments as bytes (see bc_set in client.h), so that a call of
// Go crosses into C once. It is used once.
type operation struct {
	name      string
	arguments []byte
	options   *C.billcore_options // of the operation, or nil
	limited   *atomic.Bool        // set when an attempt was answered with the status 429; nil: not asked for
}

var unused = sync.Pool{New: func() any { return new(operation) }}

func newOperation(name string) *operation {
	out := unused.Get().(*operation)
	out.name, out.arguments, out.limited = name, out.arguments[:0], nil
	return out
}

func (o *operation) add(kind byte, name string, number int64) *operation {
	o.arguments = append(append(o.arguments, kind, byte(len(name))), name...)
	o.arguments = binary.NativeEndian.AppendUint64(o.arguments, uint64(number))
	return o
}

func (o *operation) integer(name string, value int64) *operation { return o.add('i', name, value) }

func (o *operation) text(name, value string) *operation {
	o.add('t', name, int64(len(value)))
	o.arguments = append(o.arguments, value...)
	return o
}

func (o *operation) native() (name *C.char, nameLen C.size_t, arguments *C.char, size C.size_t) {
	name, nameLen = chars(o.name)
	return name, nameLen, (*C.char)(unsafe.Pointer(unsafe.SliceData(o.arguments))), C.size_t(len(o.arguments))
}

type (
	nativeClient = *C.billcore_client
	nativeCall   = *C.billcore_options
)

func (o *operation) perform(client nativeClient, call nativeCall) C.bg_made {
	name, n, arguments, size := o.native()
	return C.bc_perform(client, name, n, arguments, size, o.options, call)
}

func (o *operation) start(loop *C.bc_loop, call nativeCall) C.bc_started {
	name, n, arguments, size := o.native()
	return C.bc_start(loop, name, n, arguments, size, o.options, call)
}

// perform sends an operation. options are those of the operation, or nil.
func (c *Client) perform(ctx context.Context, operation *operation, options *C.billcore_options) (C.bg_made, error) {
	defer unused.Put(operation)
	operation.options = options
	return c.run(ctx, operation)
}
