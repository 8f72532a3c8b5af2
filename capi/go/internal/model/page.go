package model

import (
	"sync/atomic"

	"billcore.example/go/internal/handle"
)

// page holds the items of a page of a list. The first time a field of any item is read, one call to C reads that field
// of all items.
type page struct {
	document
	from    handle.Page
	count   int
	columns [mostFields]atomic.Pointer[[]handle.Cell]
}

func (p *page) cell(f *field, index int) *handle.Cell {
	if f.kind == kindOther {
		return nil
	}
	found := p.columns[f.number].Load()
	if found == nil {
		cells := p.from.Column(f.name, f.key, f.kind == kindTime)
		if cells == nil {
			return nil
		}
		found = &cells
		p.columns[f.number].Store(found)
	}
	return &(*found)[index]
}

// item returns one item as a separate document.
func (p *page) item(index int) (*document, error) {
	made, err := p.from.Item(index)
	if err != nil {
		return nil, err
	}
	return newDocument(made, 0), nil
}
