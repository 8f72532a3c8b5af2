package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"log/slog"
	"runtime"
	"sync"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// nativePage is a page object of the C library. Each record of the page keeps the C object in memory; when no record is
// left, the garbage collector frees the object.
type nativePage struct {
	handle handle.Handle
	count  int
}

// newPage takes ownership of a C page. bytes is an estimate of the page's C memory.
func newPage(from *C.billcore_page, count int, bytes int64) *nativePage {
	made := &nativePage{count: count}
	made.handle.Set(unsafe.Pointer(from), freePage, bytes)
	runtime.SetFinalizer(made, func(p *nativePage) { p.handle.Close() })
	return made
}

func freePage(pointer unsafe.Pointer) { C.billcore_page_free((*C.billcore_page)(pointer)) }

func (p *nativePage) use() *C.billcore_page {
	pointer, _ := p.handle.Use() // always returns true: only the garbage collector closes a page
	return (*C.billcore_page)(pointer)
}

var cellPool = sync.Pool{New: func() any { return new([]C.billcore_cell) }}

// Column implements handle.Page.
func (p *nativePage) Column(name, key string, instants bool) []handle.Cell {
	native := p.use()
	defer p.handle.Done()
	scratch := cellPool.Get().(*[]C.billcore_cell)
	defer cellPool.Put(scratch)
	if cap(*scratch) < p.count {
		*scratch = make([]C.billcore_cell, p.count)
	}
	cells := (*scratch)[:p.count]
	defer clear(cells)
	if instants {
		text, n := chars(key)
		C.bc_instants(native, text, n, unsafe.SliceData(cells), C.size_t(p.count))
	} else {
		text, n := chars(name)
		if C.bc_column(native, text, n, unsafe.SliceData(cells), C.size_t(p.count)) != C.BILLCORE_OK {
			return nil
		}
	}
	return converted(cells)
}

// converted returns copies of the cells. The text of each copy is a substring of one string, so each copy keeps the
// whole string in memory.
func converted(cells []C.billcore_cell) []handle.Cell {
	bytes := 0
	for i := range cells {
		bytes += int(cells[i].text.len)
	}
	all := make([]byte, 0, bytes)
	for i := range cells {
		if n := int(cells[i].text.len); n > 0 {
			all = append(all, unsafe.Slice((*byte)(unsafe.Pointer(cells[i].text.data)), n)...)
		}
	}
	joined := unsafe.String(unsafe.SliceData(all), len(all))
	out := make([]handle.Cell, len(cells))
	for i := range cells {
		n := int(cells[i].text.len)
		out[i] = handle.Cell{Text: joined[:n], Number: int64(cells[i].number), Kind: handle.CellKind(cells[i].kind)}
		joined = joined[n:]
	}
	return out
}

// Item implements handle.Page.
func (p *nativePage) Item(index int) (handle.Pointer, error) {
	native := p.use()
	defer p.handle.Done()
	made := C.bc_item(native, C.size_t(index))
	if made.status != C.BILLCORE_OK {
		return handle.Pointer{}, failure(made, nil)
	}
	return handle.Pointer{C: made.out}, nil
}

// Page is a page of a list: its items, without those that an earlier loop returned, and its pagination numbers as
// received.
type Page[T any] struct {
	Items      []T
	Pagination Pagination
}

// LogValue returns the number of items, which slog shows instead of the items.
func (p Page[T]) LogValue() slog.Value { return slog.GroupValue(slog.Int("items", len(p.Items))) }

// Pagination contains the pagination numbers of a page, as received; -1 for a number that the page lacks or that is not
// an integer. Service interface: Pagination.
type Pagination struct {
	Total       int64 // Number of records in the whole list.
	Count       int64 // Number of records on this page.
	PerPage     int64 // Number of records on a full page.
	CurrentPage int64 // Number of this page, from 1.
	TotalPages  int64
	Next        string // links.next as received; the library does not use this link.
	Previous    string // links.previous as received; the library does not use this link.
}

func (p *nativePage) numbers() (Pagination, error) {
	native := p.use()
	defer p.handle.Done()
	n := C.bc_numbers_of(native)
	defer C.billcore_resource_free(n.keeps)
	if n.status != C.BILLCORE_OK {
		return Pagination{}, model.TakeError(int32(n.status), handle.Pointer{C: unsafe.Pointer(n.err)}, nil)
	}
	return Pagination{
		Total: int64(n.total), Count: int64(n.count), PerPage: int64(n.per_page), CurrentPage: int64(n.current_page),
		TotalPages: int64(n.total_pages), Next: text(n.next), Previous: text(n.previous),
	}, nil
}
