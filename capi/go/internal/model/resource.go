package model

/*
#cgo CFLAGS: -I${SRCDIR}/../handle
#include "event.h"
*/
import "C"

import (
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"billcore.example/go/internal/handle"
)

// ID is an opaque id. Equal ids name the same record, whether they were received as a JSON string or as an integer.
type ID string

// Resource is a JSON object whose kind is not known: the data of a test.hook event, or of an event type that this
// version does not know.
type Resource struct{ record }

// String returns the kind, without customer text.
func (r Resource) String() string { return r.describe("Resource") }

// LogValue returns the text of String, which slog logs instead of the customer's data, even as JSON.
func (r Resource) LogValue() slog.Value { return slog.StringValue(r.String()) }

// own returns r itself or, if r is the data of an event, the data as a separate resource.
func (r record) own() (record, error) {
	if r.prefix == "" {
		return r, nil
	}
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_data(from) })
	if err != nil {
		return record{}, err
	}
	return record{doc: newDocument(handle.Pointer{C: got.made}, 0)}, nil
}

// place returns the path of the record's JSON object within its document.
func (r record) place() string {
	path := strings.TrimSuffix(r.prefix, "/")
	if strings.Count(path, "/") == 1 {
		return path[1:]
	}
	return path
}

// Raw returns the JSON text as received.
func (r record) Raw() (json.RawMessage, error) {
	if r.prefix == "" {
		out, _, err := r.raw(func(from C.uintptr_t) C.bg_field { return C.bg_raw(from) })
		return out, err
	}
	key, n := chars(r.place())
	out, _, err := r.raw(func(from C.uintptr_t) C.bg_field { return C.bg_object(from, key, n) })
	return out, err
}

// MarshalJSON returns the JSON text as received.
func (r record) MarshalJSON() ([]byte, error) { return r.Raw() }

// UnmarshalJSON ignores null and refuses any other JSON: only a client, a list or an event makes records. To decode
// other JSON, define your own type.
func (r *record) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	return NewError(ErrInvalidArgument, "a record comes from a client, a list or an event: read JSON into a type of your own")
}

// Field returns the JSON text of the field with this name, even when this version has no method for the field. The
// second result is false only when the field is absent; a null field is present.
func (r record) Field(name string) (json.RawMessage, bool, error) {
	member, m := chars(name)
	if r.prefix != "" {
		key, n := chars(r.place())
		return r.raw(func(from C.uintptr_t) C.bg_field { return C.bg_member(from, key, n, member, m) })
	}
	return r.raw(func(from C.uintptr_t) C.bg_field { return C.bg_field_of(from, member, m) })
}

// same reports whether both records are equal as JSON.
func (r record) same(other record) (bool, error) {
	r, err := r.own()
	if err == nil {
		other, err = other.own()
	}
	if err != nil {
		return false, err
	}
	var failed error
	got, err := r.ask(func(from C.uintptr_t) C.bg_field {
		got, err := other.ask(func(with C.uintptr_t) C.bg_field { return C.bg_equal(from, with) })
		failed = err
		return got
	})
	if failed != nil {
		err = failed
	}
	return err == nil && got.number != 0, err
}

// copied returns a copy that keeps only its own JSON text in memory, whereas an item of a list keeps its whole page
// in memory.
func (r record) copied() (record, error) {
	r, err := r.own()
	if err != nil {
		return record{}, err
	}
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_copy(from) })
	if err != nil {
		return record{}, err
	}
	return record{doc: newDocument(handle.Pointer{C: got.made}, 0)}, nil
}

// UsableAt reports whether the customer may use the subscription at an instant. UsableAt is false for the statuses
// pending, future_start, unpaid and expired. In the statuses trialing, active, delayed and cancelled, the subscription
// is usable until EndsAt. If EndsAt is null, UsableAt is false for a cancelled subscription, and true for the statuses
// trialing, active and delayed. UsableAt fails with ErrMissingField when EndsAt is needed but absent, as in a reduced
// webhook payload; then get the subscription by its id. UsableAt fails with ErrDecode for a status that this version
// does not know. Service interface: States and transitions.
func (s Subscription) UsableAt(at time.Time) (bool, error) {
	r, err := s.own()
	if err != nil {
		return false, err
	}
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_usable_at(from, C.int64_t(at.UnixMicro())) })
	return err == nil && got.number != 0, err
}
