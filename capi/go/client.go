package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// Client is a client of the billing service. A Client is safe for concurrent use; Close closes its idle connections.
type Client struct {
	handle  handle.Handle
	timeout time.Duration // time-out of a call; negative: no time-out
	hooks   *Hooks
	reactor *reactor // shared with the clients made by With
	number  uint64   // tells the clients of a reactor apart
}

var clients atomic.Uint64 // number of clients made

const defaultTimeout = 30 * time.Second

// NewClient makes a client without connecting. NewClient fails with ErrConfig when an option is missing or invalid.
func NewClient(options ...Option) (*Client, error) {
	if err := model.LoadError(); err != nil {
		return nil, err
	}
	native, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CLIENT, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(native)
	made := C.bc_client_new(native)
	if made.status != C.BILLCORE_OK {
		return nil, failure(made, nil)
	}
	return newClient(made.out, options, &Client{timeout: defaultTimeout, reactor: new(reactor)}), nil
}

func newClient(native unsafe.Pointer, options []Option, from *Client) *Client {
	out := &Client{timeout: from.timeout, hooks: from.hooks, reactor: from.reactor, number: clients.Add(1)}
	for _, one := range options {
		switch {
		case one.name == "timeout_ms":
			out.timeout = time.Duration(one.number) * time.Millisecond
		case one.name == "no_timeout":
			out.timeout = -1
		case one.name == "max_connections":
			out.reactor.bounded = true
		case one.hooks != nil:
			out.hooks = one.hooks
		}
	}
	shared := out.reactor
	shared.hold()
	out.handle.Set(native, func(pointer unsafe.Pointer) {
		C.billcore_client_free((*C.billcore_client)(pointer))
		shared.release()
	}, 0)
	runtime.SetFinalizer(out, (*Client).free)
	return out
}

func (c *Client) free() { c.handle.Close() }

// With returns a second client, which differs from c only in the given options. c and the second client share the
// connections; the caller may close either client first. With accepts only WithTimeout, WithNoTimeout, WithMaxRetries,
// WithConcurrency, WithHeader, WithHooks and WithLogger.
func (c *Client) With(options ...Option) (*Client, error) {
	native, err := c.use()
	if err != nil {
		return nil, err
	}
	defer c.handle.Done()
	changes, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CHANGES, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(changes)
	made := C.bc_client_with(native, changes)
	if made.status != C.BILLCORE_OK {
		return nil, failure(made, nil)
	}
	return newClient(made.out, options, c), nil
}

// Close closes idle connections. Calls in flight finish, and existing lists still return the pages that they have
// already fetched. Calls that begin after Close fail with ErrConfig. A second Close does nothing. Closing a client made
// by With closes no connections: the connections belong to the client on which With was called. The connections of many
// calls at once are closed with the last of these clients, when its calls have ended.
func (c *Client) Close() error {
	native, err := c.use()
	if err != nil {
		return nil //nolint:nilerr // the client is nil or already closed
	}
	made := C.bc_client_close(native)
	c.handle.Done()
	c.handle.Close()
	if made.status != C.BILLCORE_OK {
		return failure(made, nil)
	}
	return nil
}

// use returns the C client. The caller must call c.handle.Done() afterwards.
func (c *Client) use() (*C.billcore_client, error) {
	if c == nil {
		return nil, model.NewError(ErrConfig, "the client is nil: make one with NewClient")
	}
	if pointer, ok := c.handle.Use(); ok {
		return (*C.billcore_client)(pointer), nil
	}
	return nil, model.NewError(ErrConfig, "the client is closed: make a new one")
}

// WithLogger logs the beginning and the end of every attempt at level debug, and every retry as a warning. If a write
// is cancelled after it was sent, WithLogger logs one more warning, with the path of the write; the path contains the
// record's id. A client has either a logger or hooks: if the caller passes both WithLogger and WithHooks, the last of
// these options applies.
func WithLogger(logger *slog.Logger) Option { return WithHooks(logging(logger)) }
