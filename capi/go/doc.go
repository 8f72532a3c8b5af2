// Package billcore is a client of the billing service: subscriptions, products, orders. Package webhook verifies and reads
// its webhooks, package model holds what both share.
//
// Every write is sent at most once. An error of a write says whether it may have happened: errors.Is(err,
// [ErrOutcomeUnknown]). Then look before you send it again, with [Subscriptions.FindCharges] for a charge. An [ErrDecode]
// of a write says that it was done, with an answer that is not as promised; [ErrOutOfMemory] says nothing. After any other
// error it was not done.
//
// Every call takes a context: cancelling it really ends the transfer, and its deadline counts besides the client's time-out.
//
// The module calls the C library of the same name through cgo. The build tag billcore_static links its archives.
package billcore
