package model

/*
#cgo CFLAGS: -I${SRCDIR}/../handle
#include "event.h"
*/
import "C"

import (
	"encoding/json"
	"runtime"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
)

// Event is the event that a webhook delivers. An Event is immutable and safe for concurrent use. The garbage collector
// frees an Event; Close frees it at once. Service interface: Events, Envelope.
type Event struct {
	envelope document
	id       ID // "" when the event's id is missing or cannot be read
	kind     EventType
	dataKind int32
}

var (
	eventID        = field{"id", "id", "", kindOther, 0}
	eventName      = field{"name", "name", "", kindOther, 1}
	eventAccount   = field{"account", "account", "", kindOther, 2}
	eventCreatedAt = field{"created_at", "created_at", "", kindOther, 3}
)

// NewEvent takes ownership of an event of the C library.
func NewEvent(from handle.Event) *Event {
	out := &Event{id: ID(from.ID), kind: EventType(from.Kind), dataKind: from.DataKind}
	out.envelope.handle.Set(from.Event, freeEvent, 0)
	runtime.SetFinalizer(out, (*Event).free)
	return out
}

// ParseUnverified parses the bytes that Raw returned for an event that was verified earlier and then stored, for
// example in a job queue. ParseUnverified checks no signature and no age, so use it only for storage that the
// receiver alone can write to.
func ParseUnverified(raw []byte) (*Event, error) {
	if loadError != nil {
		return nil, loadError
	}
	made := C.bg_parse((*C.char)(unsafe.Pointer(unsafe.SliceData(raw))), C.size_t(len(raw)))
	if made.status != C.BILLCORE_OK {
		return nil, TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	return NewEvent(handle.Event{
		Event: unsafe.Pointer(made.event), ID: text(made.id),
		Kind: int32(made.kind), DataKind: int32(made.data_kind),
	}), nil
}

// UnmarshalJSON always fails: only a verifier or ParseUnverified makes an event.
func (e *Event) UnmarshalJSON([]byte) error {
	return NewError(ErrInvalidArgument, "an event comes from a verifier: for one that was verified and stored call ParseUnverified")
}

func freeEvent(pointer unsafe.Pointer) { C.billcore_event_free((*C.billcore_event)(pointer)) }

func (e *Event) free() {
	e.envelope.handle.Close()
}

// Close frees the event and its data; a later read fails with ErrInvalidArgument. Closing again does nothing.
func (e *Event) Close() {
	if e != nil {
		e.free()
		runtime.SetFinalizer(e, nil) // the event is already closed, and clearing the finalizer is cheaper than running it
	}
}

func (e *Event) whole() record {
	if e == nil {
		return record{}
	}
	return record{doc: &e.envelope}
}

// ID is the delivery's id. Use the id to drop duplicates, except for EventTestHook, whose id is 0.
func (e *Event) ID() (ID, error) {
	if e != nil && e.id != "" && !e.envelope.handle.Closed() {
		return e.id, nil
	}
	out, _, err := e.whole().id(&eventID)
	return out, err
}

// Name is the event's name as received, such as "order.paid".
func (e *Event) Name() (string, error) {
	if e != nil && e.kind != EventUnknown && !e.envelope.handle.Closed() {
		return e.kind.String(), nil
	}
	out, _, err := e.whole().text(&eventName)
	return out, err
}

// Type is the type of the event; the event's name determines the type. For a name that this version does not know,
// Type returns EventUnknown, which is not an error.
func (e *Event) Type() EventType {
	if e == nil {
		return EventUnknown
	}
	return e.kind
}

// Account is the integer id of the account, not the account's UUID that the base URL contains.
func (e *Event) Account() (int64, error) {
	out, _, err := e.whole().integer(&eventAccount)
	return out, err
}

// CreatedAt is when the event was generated, in UTC.
func (e *Event) CreatedAt() (time.Time, error) {
	out, _, err := e.whole().instant(&eventCreatedAt)
	return out, err
}

// RequireClaimable fails with ErrDecode if a receiver cannot store the event once under its account and id; the receiver
// then answers 400. The account must be an integer. The name, the id and, if the data of a known event has one, the id
// in the data must have 1 to 200 characters and no control character. Of EventTestHook only the name is reliable, so
// RequireClaimable accepts each EventTestHook. Handler and Middleware call RequireClaimable.
func (e *Event) RequireClaimable() error {
	_, err := e.whole().ask(func(from C.uintptr_t) C.bg_field { return C.bg_event_require_claimable(from) })
	return err
}

// Raw returns a copy of the body as received. Pass the copy to ParseUnverified to read the event again later.
func (e *Event) Raw() ([]byte, error) {
	out, _, err := e.whole().raw(func(from C.uintptr_t) C.bg_field { return C.bg_event_raw(from) })
	return out, err
}

// RawData returns the event's data as JSON text; nil when the data is null or absent.
func (e *Event) RawData() (json.RawMessage, error) {
	out, _, err := e.whole().raw(func(from C.uintptr_t) C.bg_field { return C.bg_event_data(from) })
	return out, err
}

// of returns the event's data as a record of the given kind, or the C library's error if the data is of another kind.
func (e *Event) of(kind int32) (record, error) {
	whole := e.whole()
	if e != nil && e.dataKind == kind {
		return record{doc: &e.envelope, prefix: dataPrefix}, nil
	}
	_, err := whole.ask(func(from C.uintptr_t) C.bg_field {
		return C.bg_event_resource(from, C.billcore_data_kind(kind))
	})
	if err == nil {
		err = noRecord()
	}
	return record{}, err
}
