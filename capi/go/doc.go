// Package billcore is a client of the billing service: subscriptions, products, orders. Package webhook verifies and
// reads the service's webhooks. Package model holds the types that both share.
//
// Every write is sent at most once. For a write that may have happened, errors.Is(err, [ErrOutcomeUnknown]) is true:
// look before you send it again, for a charge with [Subscriptions.FindCharges]. An [ErrDecode] of a write means that
// the write was done, but the answer is not as promised. After [ErrOutOfMemory] it is open whether the write was
// done. After any other error it was not done.
//
// Every call takes a context. Cancelling it ends the transfer, and the client's time-out applies besides its
// deadline.
//
// The module calls the C library of the same name through cgo. With the build tag billcore_static it links the
// archives.
package billcore
