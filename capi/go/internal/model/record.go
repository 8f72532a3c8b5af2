package model

/*
#cgo CFLAGS: -I${SRCDIR}/../handle
#include "record.h"
*/
import "C"

import (
	"encoding/json"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
)

// document is the C object from which records read their fields: one resource, or a page of resources. A document is
// immutable, so any number of goroutines may read it. The garbage collector frees a document; Event.Close also frees
// the document of its event.
type document struct {
	handle handle.Handle
	page   *page // the items; nil when the document is one resource
}

// record is a view of one JSON object. Every resource type embeds record. Reading a field of the zero record returns
// ErrInvalidArgument.
type record struct {
	doc    *document
	index  int    // Index of the item in its page.
	prefix string // Path of a nested object, such as "/strings/"; "" for a resource, "/data/" for an event's data.
}

// field is one field of a resource.
type field struct {
	name   string // The field's name in the JSON text.
	key    string // The name as passed to the C library, with an appended ? when the field may be null or absent.
	data   string // The field's path within an event's JSON text.
	kind   kind
	number int // Index of the field within its resource, and of the field's column in a page.
}

type kind uint8

const (
	kindText kind = iota
	kindInteger
	kindBoolean
	kindTime
	kindOther // such as a JSON object; read item by item, never as a column of a page
)

func newDocument(from handle.Pointer, bytes int64) *document {
	made := new(document)
	made.handle.Set(from.C, freeResource, bytes)
	runtime.SetFinalizer(made, (*document).close)
	return made
}

func (d *document) close() { d.handle.Close() }

func freeResource(pointer unsafe.Pointer) { C.billcore_resource_free((*C.billcore_resource)(pointer)) }

func noRecord() error {
	return NewError(ErrInvalidArgument, "the record is empty or its event was closed: it comes from a client, a list or an event")
}

// ask calls the given C getter with the C handle of the record's resource or event.
func (r record) ask(read func(from C.uintptr_t) C.bg_field) (C.bg_field, error) {
	doc := r.doc
	if doc == nil {
		return C.bg_field{}, noRecord()
	}
	if doc.page != nil { // for this call, make a document with only the item
		item, err := doc.page.item(r.index)
		if err != nil {
			return C.bg_field{}, err
		}
		doc = item
	}
	from, ok := doc.handle.Use()
	if !ok {
		return C.bg_field{}, noRecord()
	}
	got := read(C.uintptr_t(uintptr(from)))
	doc.handle.Done()
	if got.status != C.BILLCORE_OK {
		return C.bg_field{}, TakeError(int32(got.status), handle.Pointer{C: unsafe.Pointer(got.err)}, nil)
	}
	return got, nil
}

func chars(s string) (*C.char, C.size_t) {
	return (*C.char)(unsafe.Pointer(unsafe.StringData(s))), C.size_t(len(s))
}

const dataPrefix = "/data/"

func (r record) path(f *field) string {
	switch r.prefix {
	case "":
		return f.key
	case dataPrefix:
		return f.data
	}
	return r.prefix + f.key
}

// cell returns the record's cell in the column of a field; nil when the record is not an item of a page.
func (r record) cell(f *field) *handle.Cell {
	if r.doc == nil || r.doc.page == nil || r.prefix != "" {
		return nil
	}
	return r.doc.page.cell(f, r.index)
}

func (r record) text(f *field) (string, bool, error) {
	if c := r.cell(f); c != nil {
		if c.Kind == handle.Text {
			return c.Text, true, nil
		}
		if c.Kind.Empty() && f.nullable() {
			return "", false, nil
		}
	}
	return r.slowText(f, func(from C.uintptr_t, key *C.char, n C.size_t) C.bg_field { return C.bg_text(from, key, n) })
}

// slowText reads a text from the C library, and copies the text before it lets another goroutine free the resource.
func (r record) slowText(f *field, read func(C.uintptr_t, *C.char, C.size_t) C.bg_field) (string, bool, error) {
	var out string
	key, n := chars(r.path(f))
	got, err := r.ask(func(from C.uintptr_t) C.bg_field {
		got := read(from, key, n)
		if got.status == C.BILLCORE_OK {
			out = text(got.text)
		}
		return got
	})
	return out, err == nil && bool(got.present), err
}

func (r record) number(f *field) (json.Number, bool, error) {
	out, present, err := r.slowText(f, func(from C.uintptr_t, key *C.char, n C.size_t) C.bg_field { return C.bg_number(from, key, n) })
	return json.Number(out), present, err
}

func (r record) id(f *field) (ID, bool, error) {
	if c := r.cell(f); c != nil && c.Kind == handle.Text {
		return ID(c.Text), true, nil
	}
	out, present, err := r.slowText(f, func(from C.uintptr_t, key *C.char, n C.size_t) C.bg_field { return C.bg_id(from, key, n) })
	return ID(out), present, err
}

func (r record) integer(f *field) (int64, bool, error) {
	if c := r.cell(f); c != nil {
		if c.Kind == handle.Integer {
			return c.Number, true, nil
		}
		if c.Kind.Empty() && f.nullable() {
			return 0, false, nil
		}
	}
	key, n := chars(r.path(f))
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_int64(from, key, n) })
	return int64(got.number), bool(got.present), err
}

func (r record) boolean(f *field) (bool, bool, error) {
	if c := r.cell(f); c != nil && c.Kind == handle.Boolean {
		return c.Number != 0, true, nil
	}
	key, n := chars(r.path(f))
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_bool(from, key, n) })
	return got.number != 0, bool(got.present), err
}

func (r record) instant(f *field) (time.Time, bool, error) {
	if c := r.cell(f); c != nil {
		if c.Kind == handle.Integer {
			return time.UnixMicro(c.Number).UTC(), true, nil
		}
		if c.Kind == handle.Absent && f.nullable() {
			return time.Time{}, false, nil
		}
	}
	key, n := chars(r.path(f))
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_time(from, key, n) })
	if err != nil || !bool(got.present) {
		return time.Time{}, false, err
	}
	return time.UnixMicro(int64(got.number)).UTC(), true, nil
}

// raw calls the given C getter and returns the JSON text of the value that the getter returns.
func (r record) raw(read func(from C.uintptr_t) C.bg_field) (json.RawMessage, bool, error) {
	var out json.RawMessage
	got, err := r.ask(func(from C.uintptr_t) C.bg_field {
		got := read(from)
		if got.status == C.BILLCORE_OK && bool(got.present) {
			out = handle.Bytes(unsafe.Pointer(got.text.data), got.text.len)
		}
		C.billcore_value_free((*C.billcore_value)(got.made))
		return got
	})
	return out, err == nil && bool(got.present), err
}

func (r record) object(f *field) (json.RawMessage, bool, error) {
	key, n := chars(r.path(f))
	return r.raw(func(from C.uintptr_t) C.bg_field { return C.bg_object(from, key, n) })
}

func (r record) any(f *field) (json.RawMessage, bool, error) {
	key, n := chars(r.path(f))
	return r.raw(func(from C.uintptr_t) C.bg_field { return C.bg_any(from, key, n) })
}

// part returns a view of the JSON object in field f. The second result is false when the field is null or absent.
func (r record) part(f *field) (record, bool, error) {
	_, present, err := r.object(f)
	if err != nil || !present {
		return record{}, false, err
	}
	return record{doc: r.doc, index: r.index, prefix: "/" + strings.TrimPrefix(r.path(f), "/") + "/"}, true, nil
}

func (r record) records(f *field) ([]record, error) {
	key, n := chars(r.path(f))
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_list_count(from, key, n) })
	if err != nil {
		return nil, err
	}
	out := make([]record, int(got.number))
	for i := range out {
		got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_list_at(from, key, n, C.size_t(i)) })
		if err != nil {
			return nil, err
		}
		out[i].doc = newDocument(handle.Pointer{C: got.made}, 0)
	}
	return out, nil
}

func (r record) integers(f *field) ([]int64, error) {
	key, n := chars(r.path(f))
	got, err := r.ask(func(from C.uintptr_t) C.bg_field { return C.bg_integers_count(from, key, n) })
	if err != nil {
		return nil, err
	}
	out := make([]int64, int(got.number))
	_, err = r.ask(func(from C.uintptr_t) C.bg_field {
		return C.bg_integers(from, key, n, (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(out))), C.size_t(len(out)))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (f *field) nullable() bool { return f.key[len(f.key)-1] == '?' }

func wrapped[T any](r record, f *field, wrap func(record) T) ([]T, error) {
	found, err := r.records(f)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(found))
	for i, one := range found {
		out[i] = wrap(one)
	}
	return out, nil
}

// describe returns the kind and the identifying fields of the record, without customer data.
func (r record) describe(kind string, shown ...*field) string {
	var out strings.Builder
	out.WriteString(kind + "(")
	separator := ""
	for _, f := range shown {
		raw, present, err := r.any(f)
		if err == nil && present {
			out.WriteString(separator + f.name + "=" + string(raw))
			separator = ", "
		}
	}
	return out.String() + ")"
}
