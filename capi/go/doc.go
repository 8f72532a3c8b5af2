// Package billcore is a client of the billing service: subscriptions, products, orders. Package webhook verifies and
// reads the service's webhooks. Package model contains the types that packages billcore and webhook share.
//
// Every write is sent at most once. For a write that may have happened, errors.Is(err, [ErrOutcomeUnknown]) is true.
// Before you send a write of unknown outcome again, check whether it happened (for a charge, with
// [Subscriptions.FindCharges]). A write that fails with [ErrDecode] was done, but the service's answer does not match
// the service interface. After [ErrOutOfMemory] the caller cannot know whether the write was done. If the error matches
// none of [ErrOutcomeUnknown], [ErrDecode] and [ErrOutOfMemory], the write was not done.
//
// Every call takes a context. Cancelling the context aborts the call's HTTP request. A call ends at the client's
// time-out or the context's deadline, whichever is earlier.
//
// The module calls the C library libbillcore through cgo, and contains it for Linux on amd64 and arm64: for glibc, and
// with the build tag musl for musl. With the build tag billcore_system, pkg-config names the libraries of the system;
// with billcore_static too, the static ones.
package billcore
