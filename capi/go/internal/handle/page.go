package handle

// Page is a page of a list as the client half gives it to package model, which does not link that half.
type Page interface {
	// Column reads one field of all items; nil when the library refuses. key is the field's name with its mark.
	Column(name, key string, instants bool) []Cell
	// Item returns one item as a resource of its own.
	Item(index int) (Pointer, error)
}

// Cell is a field of one item.
type Cell struct {
	Text   string
	Number int64 // also of a boolean, and the microseconds of an instant
	Kind   CellKind
}

// CellKind is what a field of an item holds: the numbers of billcore_cell_kind.
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

// Empty reports whether there is no value.
func (k CellKind) Empty() bool { return k == Absent || k == Null }
