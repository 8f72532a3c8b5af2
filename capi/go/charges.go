package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"errors"
	"time"

	"billcore.example/go/internal/model"
)

// FindCharges returns the orders that a charge of unknown outcome may have made: the subscription's orders since the
// charge was sent, latest first. The argument charge is the error that the failed charge returned; an error that is not
// about a charge of unknown outcome gives ErrInvalidArgument. The Total of the charge's order is amount times quantity
// (cents without VAT). If FindCharges does not return the charge's order, either the charge was not made or the service
// is still processing it. Before you charge again, wait for as long as the service may need to process the charge, and
// call FindCharges a second time; charge again only if the second search does not find the charge's order. FindCharges
// fails with ErrPossiblyMissed when orders may be missing: see FoundCharges.
func (s Subscriptions) FindCharges(ctx context.Context, charge error, options ...ChargeSearchOption) ([]Order, error) {
	var given *Error
	errors.As(charge, &given)
	failed, ok := model.NativeError(given).Use()
	if !ok {
		return nil, model.NewError(ErrInvalidArgument, "FindCharges takes the error of a charge whose outcome is unknown")
	}
	defer model.NativeError(given).Done()
	search, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CHARGE_SEARCH, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(search)
	return s.search(ctx, func(loop *C.bc_loop, call nativeCall) C.bc_started {
		return C.bc_find_charges(loop, (*C.billcore_error)(failed), search, call)
	})
}

// FindChargesSince searches as FindCharges does, but takes an instant instead of an error: use it when the error was
// lost, for example in a crash. FindChargesSince returns the subscription's orders created at or after since, which is
// a time on the service's clock and is rounded down to a second. FindChargesSince refuses the option SearchSkew: pass
// an earlier instant instead.
func (s Subscriptions) FindChargesSince(
	ctx context.Context, id ID, since time.Time, options ...ChargeSearchOption,
) ([]Order, error) {
	search, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CHARGE_SEARCH, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(search)
	text, n := chars(string(id))
	return s.search(ctx, func(loop *C.bc_loop, call nativeCall) C.bc_started {
		return C.bc_find_charges_since(loop, text, n, C.int64_t(since.UnixMicro()), search, call)
	})
}

// FoundCharges returns the orders that a search had found when it failed with ErrPossiblyMissed, latest first. For an
// error with another code FoundCharges returns nil.
func FoundCharges(err error) []Order {
	var given *Error
	errors.As(err, &given)
	failed, ok := model.NativeError(given).Use()
	if !ok {
		return nil
	}
	defer model.NativeError(given).Done()
	made := C.bc_found_charges((*C.billcore_error)(failed))
	if made.status != C.BILLCORE_OK {
		C.billcore_error_free(made.err)
		return nil
	}
	found, _ := orders(made, nil)
	return found
}

// search is a search that has not begun. It may read many pages, so it always runs on the loop.
type search func(loop *C.bc_loop, call nativeCall) C.bc_started

func (s search) start(loop *C.bc_loop, call nativeCall) C.bc_started {
	return s(loop, call)
}

func (s Subscriptions) search(ctx context.Context, what search) ([]Order, error) {
	return orders(s.client.run(ctx, what))
}

func orders(made C.bg_made, err error) ([]Order, error) {
	if err != nil {
		return nil, err
	}
	native := (*C.billcore_page)(made.out)
	count := int(C.bc_page_count(native))
	at := model.Items[Order](newPage(native, count, 0), count)
	out := make([]Order, count)
	for i := range out {
		out[i] = at(i)
	}
	return out, nil
}
