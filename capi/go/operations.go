package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
	"unsafe"

	"billcore/internal/bridge"
	"billcore/internal/handle"
)

// Subscriptions of the account. Service interface: Endpoints, Subscriptions.
type Subscriptions struct{ client *Client }

// Products of the account. Service interface: Endpoints, Products.
type Products struct{ client *Client }

// Orders of the account. Service interface: Endpoints, Orders.
type Orders struct{ client *Client }

// WebhookEndpoints are receivers of events. Service interface: Endpoints, Webhook endpoints.
type WebhookEndpoints struct{ client *Client }

// Subscriptions has the operations on subscriptions.
func (c *Client) Subscriptions() Subscriptions { return Subscriptions{c} }

// Products has the operations on products.
func (c *Client) Products() Products { return Products{c} }

// Orders has the operations on orders.
func (c *Client) Orders() Orders { return Orders{c} }

// WebhookEndpoints has the operations on receivers of events.
func (c *Client) WebhookEndpoints() WebhookEndpoints { return WebhookEndpoints{c} }

type (
	nativeClient = *C.billcore_client
	nativeCall   = *C.billcore_options
)

// Get gives a subscription by its id.
func (s Subscriptions) Get(ctx context.Context, id ID) (Subscription, error) {
	text, n := chars(string(id))
	made, err := s.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_subscription_get(client, text, n, call)
	})
	return resource[Subscription](made, err)
}

// Cancel ends billing at once; the subscription may stay active until EndsAt. Sent at most once. It gives the subscription
// as it is now.
func (s Subscriptions) Cancel(ctx context.Context, id ID) (Subscription, error) {
	text, n := chars(string(id))
	made, err := s.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_subscription_cancel(client, text, n, call)
	})
	return resource[Subscription](made, err)
}

// ChangeProduct swaps the product for another one of the account. Sent at most once. It gives the subscription as it is
// now.
func (s Subscriptions) ChangeProduct(ctx context.Context, id ID, productID int64) (Subscription, error) {
	text, n := chars(string(id))
	made, err := s.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_change_product(client, text, n, C.int64_t(productID), call)
	})
	return resource[Subscription](made, err)
}

// Charge bills a one-off amount, in cents, through the subscription's billing method; productID is a one-time product of
// the account. Sent at most once. ErrPayment when the service refuses the charge; ErrOutcomeUnknown when it may or may not
// have been made: see FindCharges.
func (s Subscriptions) Charge(ctx context.Context, id ID, productID, cents int64, options ...ChargeOption) (Order, error) {
	native, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CHARGE, options)
	if err != nil {
		return Order{}, err
	}
	defer C.billcore_options_free(native)
	text, n := chars(string(id))
	made, err := s.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_charge(client, text, n, C.int64_t(productID), C.int64_t(cents), native, call)
	})
	return resource[Order](made, err)
}

// FindCharges returns the orders that a charge of unknown outcome may have made: the subscription's since then, latest
// first. charge is its error; ErrInvalidArgument for an error of another call or of a known outcome. The charge's order has
// a Total of amount times quantity (cents without VAT). None: the charge was not made, or the service is still processing
// it, so search again after the time that it may need; charge again only when the later search also finds none.
// ErrPossiblyMissed when orders may be missing: see FoundCharges.
func (s Subscriptions) FindCharges(ctx context.Context, charge error, options ...ChargeSearchOption) ([]Order, error) {
	var given *Error
	errors.As(charge, &given)
	failed, ok := bridge.NativeError(given).Use()
	if !ok {
		return nil, bridge.NewError(ErrInvalidArgument, "FindCharges takes the error of a charge whose outcome is unknown")
	}
	defer bridge.NativeError(given).Done()
	search, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CHARGE_SEARCH, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(search)
	made, err := s.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_find_charges(client, (*C.billcore_error)(failed), search, call)
	})
	return orders(made, err)
}

// FindChargesSince does the same without an error, for example after a crash: the subscription's orders created at or
// after this instant by the service's clock, rounded down to a second. SearchSkew is refused: pass an earlier instant.
func (s Subscriptions) FindChargesSince(
	ctx context.Context, id ID, since time.Time, options ...ChargeSearchOption,
) ([]Order, error) {
	search, err := nativeOptions(C.BILLCORE_OPTIONS_OF_CHARGE_SEARCH, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(search)
	text, n := chars(string(id))
	made, err := s.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_find_charges_since(client, text, n, C.int64_t(since.UnixMicro()), search, call)
	})
	return orders(made, err)
}

// FoundCharges returns the orders that a search had found when it ended with ErrPossiblyMissed, latest first; nil for
// other errors.
func FoundCharges(err error) []Order {
	var given *Error
	errors.As(err, &given)
	failed, ok := bridge.NativeError(given).Use()
	if !ok {
		return nil
	}
	defer bridge.NativeError(given).Done()
	made := C.bc_found_charges((*C.billcore_error)(failed))
	if made.status != C.BILLCORE_OK {
		C.billcore_error_free(made.err)
		return nil
	}
	found, _ := orders(made, nil)
	return found
}

// Get gives a product by its id.
func (p Products) Get(ctx context.Context, id int64) (Product, error) {
	made, err := p.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_product_get(client, C.int64_t(id), call)
	})
	return resource[Product](made, err)
}

// Update changes the given fields only; none at all is ErrInvalidArgument. Sent at most once. It gives the product as it is
// now.
func (p Products) Update(ctx context.Context, id int64, changes ...ProductChange) (Product, error) {
	native, err := nativeOptions(C.BILLCORE_OPTIONS_OF_PRODUCT, changes)
	if err != nil {
		return Product{}, err
	}
	if native == nil {
		return Product{}, bridge.NewError(ErrInvalidArgument, "Update changes no field: give at least one, such as ProductPrice")
	}
	defer C.billcore_options_free(native)
	made, err := p.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_product_update(client, C.int64_t(id), native, call)
	})
	return resource[Product](made, err)
}

// Delete deletes a product, softly. Sent at most once.
func (p Products) Delete(ctx context.Context, id int64) error {
	_, err := p.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_product_delete(client, C.int64_t(id), call)
	})
	return err
}

// Get gives an order by its id.
func (o Orders) Get(ctx context.Context, id ID) (Order, error) {
	text, n := chars(string(id))
	made, err := o.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_order_get(client, text, n, call)
	})
	return resource[Order](made, err)
}

// Response is an answer as received, where the interface does not say what it holds.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte
	Attempts  int // how often the request was sent
	RequestID string
}

// JSON decodes the body as encoding/json does.
func (r *Response) JSON(into any) error { return json.Unmarshal(r.Body, into) }

// Create registers a URL that receives signed events. Sent at most once. The answer does not hold the secret: read it from
// the admin UI. ErrValidation when the URL is invalid or already registered.
func (w WebhookEndpoints) Create(ctx context.Context, url string) (*Response, error) {
	text, n := chars(url)
	made, err := w.client.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_endpoint_create(client, text, n, call)
	})
	return response(made, err)
}

// Request makes a request of your own. method: GET, POST, PUT, PATCH or DELETE; everything but GET is a write, sent at
// most once. path: below the base URL, begins with a slash, already encoded, no query.
func (c *Client) Request(ctx context.Context, method, path string, options ...RequestOption) (*Response, error) {
	native, err := nativeOptions(C.BILLCORE_OPTIONS_OF_REQUEST, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(native)
	verb, m := chars(method)
	text, n := chars(path)
	made, err := c.run(ctx, func(client nativeClient, call nativeCall) C.bg_made {
		return C.bc_request(client, verb, m, text, n, native, call)
	})
	return response(made, err)
}

func resource[T any](made C.bg_made, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	return bridge.Record(none, handle.Pointer{C: made.out}).(T), nil
}

func orders(made C.bg_made, err error) ([]Order, error) {
	if err != nil {
		return nil, err
	}
	native := (*C.billcore_page)(made.out)
	count := int(C.bc_page_count(native))
	at := items[Order](newPage(native, count, 0))
	out := make([]Order, count)
	for i := range out {
		out[i] = at(i)
	}
	return out, nil
}

// response copies the answer and frees it.
func response(made C.bg_made, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	native := (*C.billcore_response)(made.out)
	defer C.billcore_response_free(native)
	answer := C.bc_answer_of(native)
	defer C.billcore_response_info_free(answer.info)
	if answer.status != C.BILLCORE_OK {
		return nil, bridge.TakeError(int32(answer.status), handle.Pointer{C: unsafe.Pointer(answer.err)}, nil)
	}
	out := &Response{
		Status: int(answer.http_status), Header: http.Header{}, Attempts: int(answer.attempts),
		Body: handle.Bytes(unsafe.Pointer(answer.body.data), answer.body.len), RequestID: text(answer.request_id),
	}
	for i := range answer.headers {
		if field := C.bc_header_at(answer.info, C.size_t(i)); field.status == C.BILLCORE_OK {
			out.Header.Add(text(field.name), text(field.value))
		}
	}
	return out, nil
}
