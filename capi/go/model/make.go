package model

import (
	"billcore/internal/bridge"
	"billcore/internal/handle"
)

func init() {
	bridge.LoadError = func() error { return loadError }
	bridge.NewError = func(code error, format string, arguments ...any) error {
		return newError(code.(Code), format, arguments...)
	}
	bridge.TakeError = func(status int32, from handle.Pointer, ended error) error { return takeError(status, from, ended) }
	bridge.Ended = func(err, cause error) error {
		err.(*Error).ended = cause
		return err
	}
	bridge.NativeError = func(err error) *handle.Handle {
		if failed, ok := err.(*Error); ok && failed != nil {
			return failed.native
		}
		return nil
	}
	bridge.NewEvent = func(from handle.Event) any { return newEvent(from) }
	bridge.Record = func(like any, from handle.Pointer) any {
		return resourceLike(like, record{doc: newDocument(from, 0)})
	}
	bridge.Items = func(like any, from handle.Page, count int) any {
		page := &page{from: from, count: count}
		page.document.page = page
		return itemsLike(like, func(index int) record { return record{doc: &page.document, index: index} })
	}
}
