package model

import "billcore.example/go/internal/handle"

// LoadError returns an error when the C library found at run time does not have the major and minor version that this
// program was compiled with. NewClient, NewVerifier and ParseUnverified return the error of LoadError.
func LoadError() error { return loadError }

// Ended sets the error of the context that ended the call, so that errors.Is finds cause in err; returns err.
func Ended(err *Error, cause error) *Error {
	err.ended = cause
	return err
}

// NativeError returns the C error object of an error that reports a write of unknown outcome, or a search that may have
// missed orders; nil for other errors.
func NativeError(err *Error) *handle.Handle {
	if err == nil {
		return nil
	}
	return err.native
}

// NewRecord takes ownership of a resource of the C library.
func NewRecord[T Returned](from handle.Pointer) T {
	return T(struct{ record }{record{doc: newDocument(from, 0)}})
}

// Items returns a function that returns the record at an index of a page; count is the number of items of the page.
func Items[T Returned](from handle.Page, count int) func(index int) T {
	page := &page{from: from, count: count}
	page.document.page = page
	return func(index int) T { return T(struct{ record }{record{doc: &page.document, index: index}}) }
}
