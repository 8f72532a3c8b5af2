package model

/*
#cgo CFLAGS: -I${SRCDIR}/../internal/handle
#include "record.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"billcore/internal/handle"
)

// page holds the items of a page of a list. The first time a field of an item is read, that field of all items crosses
// the border in one call.
type page struct {
	document
	count   int
	columns [mostFields]atomic.Pointer[column]
}

type column []cell

type cell struct {
	text   string
	number int64
	kind   cellKind
}

type cellKind uint8

const (
	cellAbsent  cellKind = C.BILLCORE_CELL_ABSENT
	cellNull    cellKind = C.BILLCORE_CELL_NULL
	cellText    cellKind = C.BILLCORE_CELL_TEXT
	cellInteger cellKind = C.BILLCORE_CELL_INTEGER
	cellBoolean cellKind = C.BILLCORE_CELL_BOOLEAN
	cellOther   cellKind = C.BILLCORE_CELL_OTHER
)

func (k cellKind) absent() bool { return k == cellAbsent || k == cellNull }

// itemBytes is about what the C library holds for an item: its text and the parsed form.
const itemBytes = 1500

func newPage(from handle.Pointer, count int) *page {
	made := &page{count: count}
	made.document.page = made
	made.handle.Set(from.C, freePage, int64(count)*itemBytes)
	runtime.SetFinalizer(made, func(p *page) { p.handle.Close() })
	return made
}

func freePage(pointer unsafe.Pointer) { C.billcore_page_free((*C.billcore_page)(pointer)) }

func (p *page) cell(f *field, index int) *cell {
	if f.kind == kindOther {
		return nil
	}
	found := p.columns[f.number].Load()
	if found == nil {
		if found = p.read(f); found == nil {
			return nil
		}
		p.columns[f.number].Store(found)
	}
	return &(*found)[index]
}

var cellPool = sync.Pool{New: func() any { return new([]C.billcore_cell) }}

// read gives the column, or nil when the library refuses; the items are then asked one by one.
func (p *page) read(f *field) *column {
	from, ok := p.handle.Use()
	if !ok {
		return nil
	}
	defer p.handle.Done()
	scratch := cellPool.Get().(*[]C.billcore_cell)
	defer cellPool.Put(scratch)
	if cap(*scratch) < p.count {
		*scratch = make([]C.billcore_cell, p.count)
	}
	cells := (*scratch)[:p.count]
	defer clear(cells)
	if f.kind == kindTime {
		key, n := chars(f.key)
		C.bg_times((*C.billcore_page)(from), key, n, unsafe.SliceData(cells), C.size_t(p.count))
	} else {
		name, n := chars(f.name)
		if C.bg_column((*C.billcore_page)(from), name, n, unsafe.SliceData(cells), C.size_t(p.count)) != C.BILLCORE_OK {
			return nil
		}
	}
	return converted(cells)
}

// converted copies the cells, and all their texts as one string, which each of them keeps alive.
func converted(cells []C.billcore_cell) *column {
	bytes := 0
	for i := range cells {
		if cellKind(cells[i].kind) == cellText {
			bytes += int(cells[i].text.len)
		}
	}
	var joined string
	if bytes > 0 {
		all := make([]byte, 0, bytes)
		for i := range cells {
			if cellKind(cells[i].kind) == cellText {
				all = append(all, unsafe.Slice((*byte)(unsafe.Pointer(cells[i].text.data)), int(cells[i].text.len))...)
			}
		}
		joined = unsafe.String(unsafe.SliceData(all), len(all))
	}
	out := make(column, len(cells))
	for i := range cells {
		out[i].kind = cellKind(cells[i].kind)
		switch out[i].kind {
		case cellText:
			n := int(cells[i].text.len)
			out[i].text, joined = joined[:n], joined[n:]
		case cellInteger, cellBoolean:
			out[i].number = int64(cells[i].number)
		}
	}
	return &out
}

// item gives the resource of one item as a document of its own.
func (p *page) item(index int) (*document, error) {
	from, ok := p.handle.Use()
	if !ok {
		return nil, noRecord()
	}
	defer p.handle.Done()
	made := C.bg_item((*C.billcore_page)(from), C.size_t(index))
	if made.status != C.BILLCORE_OK {
		return nil, TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, nil)
	}
	return newDocument(handle.Pointer{C: made.out}, 0), nil
}
