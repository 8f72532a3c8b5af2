package model

/*
#cgo CFLAGS: -I${SRCDIR}/../internal/handle
#include "record.h"
*/
import "C"

import (
	"encoding/json"
	"strings"
	"time"
	"unsafe"

	"billcore/internal/handle"
)

// ID is an opaque id. Two that are equal name the same record, whether one came as a JSON string or as an integer.
type ID string

// Resource is an object whose kind this version does not know: the data of an event that was added later.
type Resource struct{ record }

// Raw gives the JSON text as received.
func (r record) Raw() (json.RawMessage, error) {
	if r.prefix != "" { // a part: the object at its path
		path := strings.TrimSuffix(r.prefix, "/")
		if strings.Count(path, "/") == 1 {
			path = path[1:]
		}
		key, n := chars(path)
		out, _, err := r.raw(func(from unsafe.Pointer) C.bg_field { return C.bg_object(from, key, n) })
		return out, err
	}
	out, _, err := r.raw(func(from unsafe.Pointer) C.bg_field { return C.bg_raw(from) })
	return out, err
}

// MarshalJSON gives the JSON text as received.
func (r record) MarshalJSON() ([]byte, error) { return r.Raw() }

// Field gives any field by its name, also one that this version has no method for. It is true also for null.
func (r record) Field(name string) (json.RawMessage, bool, error) {
	if r.prefix != "" {
		raw, err := r.Raw()
		if err != nil {
			return nil, false, err
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, false, err
		}
		found, ok := members[name]
		return found, ok, nil
	}
	key, n := chars(name)
	return r.raw(func(from unsafe.Pointer) C.bg_field { return C.bg_field_of(from, key, n) })
}

// same reports whether both are the same JSON.
func (r record) same(other record) (bool, error) {
	var failed error
	got, err := r.ask(func(from unsafe.Pointer) C.bg_field {
		got, err := other.ask(func(with unsafe.Pointer) C.bg_field { return C.bg_equal(from, with) })
		failed = err
		return got
	})
	if failed != nil {
		err = failed
	}
	return err == nil && got.number != 0, err
}

// copied gives a record that keeps only its own text alive: an item of a list keeps its whole page.
func (r record) copied() (record, error) {
	got, err := r.ask(func(from unsafe.Pointer) C.bg_field { return C.bg_copy(from) })
	if err != nil {
		return record{}, err
	}
	return record{doc: newDocument(handle.Pointer{C: got.made}, 0)}, nil
}

// UsableAt reports whether the subscription is still paid for at this instant. It is false for pending, future_start,
// unpaid and expired. The others are usable until EndsAt; null means no end, and that a cancelled one is not usable.
// ErrMissingField where EndsAt is needed and absent: a reduced payload cannot tell, get the subscription by its id.
// ErrDecode for a status that this version does not know. Service interface: States and transitions.
func (s Subscription) UsableAt(at time.Time) (bool, error) {
	got, err := s.ask(func(from unsafe.Pointer) C.bg_field { return C.bg_usable_at(from, C.int64_t(at.UnixMicro())) })
	return err == nil && got.number != 0, err
}
