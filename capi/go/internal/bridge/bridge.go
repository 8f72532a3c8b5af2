// Package bridge has the functions of package model that only this module calls, so that model does not export them. Package
// model sets them when it is initialised.
package bridge

import "billcore/internal/handle"

var (
	// LoadError says that the C library found at run time is another one than this program was compiled with. Every client
	// and verifier refuses to work then.
	LoadError func() error
	// NewError makes a model.Error of this module; code is a model.Code.
	NewError func(code error, format string, arguments ...any) error
	// TakeError reads an error of the C library and frees it. ended: of the context that ended the call, or nil.
	TakeError func(status int32, from handle.Pointer, ended error) error
	// Ended gives a new model.Error a cause that errors.Is finds.
	Ended func(err, cause error) error
	// NativeError returns the C library's form of the error of a charge whose outcome is unknown, or of a search; nil for others.
	NativeError func(err error) *handle.Handle
	// NewEvent takes an event of the C library; it gives a *model.Event.
	NewEvent func(from handle.Event) any
	// Record takes a resource of the C library. like: an empty record of the type that it gives.
	Record func(like any, from handle.Pointer) any
	// Items returns the items of a page that has count of them, as a func(int) of records of this type.
	Items func(like any, from handle.Page, count int) any
)
