package handle

// Page is a page of a list. Package billcore implements Page, so that package model can read pages without linking
// libbillcore.
type Page interface {
	// Column reads one field of all items; it returns nil when the C library returns an error. key is the name of the
	// field, with an appended ? when the field may be null or absent.
	Column(name, key string, instants bool) []Cell
	// Item returns one item as a separate resource.
	Item(index int) (Pointer, error)
}

// Cell is the value of one field of one item of a page.
type Cell struct {
	Text   string
	Number int64 // an integer, a boolean (0 or 1), or the microseconds of an instant
	Kind   CellKind
}

// CellKind is the kind of value in a field of an item. The numbers are the same as those of billcore_cell_kind in C.
type CellKind uint8

// The kinds of cells.
const (
	Absent  CellKind = 0
	Null    CellKind = 1
	Text    CellKind = 2
	Integer CellKind = 3
	Boolean CellKind = 4
	Other   CellKind = 5
)

// Empty reports whether the cell has no value.
func (k CellKind) Empty() bool { return k == Absent || k == Null }
