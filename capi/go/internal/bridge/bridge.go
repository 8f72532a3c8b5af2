// Package bridge gives the other packages of this module access to functions that package model does not export. When
// package model is initialised, it sets the variables of this package.
package bridge

import "billcore/internal/handle"

var (
	// LoadError returns an error when the C library found at run time does not have the major and minor version that
	// this program was compiled with. NewClient, NewVerifier and ParseUnverified return the error of LoadError.
	LoadError func() error
	// NewError makes a *model.Error; code is a model.Code.
	NewError func(code error, format string, arguments ...any) error
	// TakeError reads an error of the C library and frees it. ended is the error of the context that ended the call,
	// or nil.
	TakeError func(status int32, from handle.Pointer, ended error) error
	// Ended wraps cause (the error of a context) in err (a new *model.Error), so that errors.Is finds cause in err.
	Ended func(err, cause error) error
	// NativeError returns the C error object of a *model.Error that reports a write of unknown outcome, or a search that
	// may have missed orders; nil for other errors.
	NativeError func(err error) *handle.Handle
	// NewEvent takes ownership of an event of the C library; it returns a *model.Event.
	NewEvent func(from handle.Event) any
	// Record takes ownership of a resource of the C library. The argument like is an empty record; Record returns a
	// record of the same type.
	Record func(like any, from handle.Pointer) any
	// Items returns a func(int) that returns the record at an index of a page. The records have the same type as the
	// argument like; count is the number of items of the page.
	Items func(like any, from handle.Page, count int) any
)
