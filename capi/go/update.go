package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"

	"billcore.example/go/internal/model"
)

// Update changes only the given fields and returns the changed product. The request is sent at most once. Update
// fails with ErrInvalidArgument when no field is given.
func (p Products) Update(ctx context.Context, id int64, changes ...ProductChange) (Product, error) {
	native, err := nativeOptions(C.BILLCORE_OPTIONS_OF_PRODUCT, changes)
	if err != nil {
		return Product{}, err
	}
	if native == nil {
		return Product{}, model.NewError(ErrInvalidArgument, "Update changes no field: give at least one, such as ProductPrice")
	}
	defer C.billcore_options_free(native)
	made, err := p.client.perform(ctx, newOperation("products.update").integer("id", id), native)
	return resource[Product](made, err)
}
