package webhook

/*
#cgo CFLAGS: -I${SRCDIR}/../internal/handle
#include "webhook.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// Stream checks one body that arrives in pieces and is too large to hold in memory. A Stream is an io.Writer. A
// Stream does not keep the pieces. Do not use the pieces before Finish confirms the signature. Several goroutines may
// call the methods of a Stream; a lock lets only one call run at a time.
type Stream struct {
	mutex  sync.Mutex
	handle handle.Handle
}

// Stream begins the check of one body. Stream fails with ErrConfig when the verifier has the option WithFreshness or
// is for accounts, because both need the whole body.
func (v *Verifier) Stream() (*Stream, error) {
	native, err := v.use()
	if err != nil {
		return nil, err
	}
	defer v.handle.Done()
	made := C.bw_stream(native)
	if made.status != C.BILLCORE_OK {
		return nil, failure(made)
	}
	out := new(Stream)
	out.handle.Set(made.out, freeStream, 0)
	runtime.SetFinalizer(out, (*Stream).Close)
	return out, nil
}

func freeStream(pointer unsafe.Pointer) {
	C.billcore_verifier_stream_free((*C.billcore_verifier_stream)(pointer))
}

func (s *Stream) use() (*C.billcore_verifier_stream, error) {
	if s != nil {
		if pointer, ok := s.handle.Use(); ok {
			s.mutex.Lock()
			return (*C.billcore_verifier_stream)(pointer), nil
		}
	}
	return nil, model.NewError(model.ErrInvalidArgument, "the stream is nil or closed: make one with Verifier.Stream")
}

func (s *Stream) done() {
	s.mutex.Unlock()
	s.handle.Done()
}

// Write adds the next piece of the body to the check. Write fails with ErrSignature and ReasonBodyTooLarge when the
// pieces together exceed the limit.
func (s *Stream) Write(piece []byte) (int, error) {
	native, err := s.use()
	if err != nil {
		return 0, err
	}
	defer s.done()
	data, n := bytes(piece)
	if made := C.bw_update(native, data, n); made.status != C.BILLCORE_OK {
		return 0, failure(made)
	}
	return len(piece), nil
}

// Finish marks the end of the body, then checks the signature and returns the same results as Verify. A later Write or
// Finish fails with ErrInvalidArgument.
func (s *Stream) Finish(signature string) (int, error) {
	native, err := s.use()
	if err != nil {
		return 0, err
	}
	defer s.done()
	text, n := chars(signature)
	made := C.bw_finish(native, text, n)
	if made.status != C.BILLCORE_OK {
		return 0, model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	return int(made.index), nil
}

// Close frees the stream, whether or not Finish was called. Closing again does nothing.
func (s *Stream) Close() {
	if s != nil {
		s.handle.Close()
	}
}
