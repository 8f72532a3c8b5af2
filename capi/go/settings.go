package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

type setter uint8

const (
	setNothing setter = iota
	setText
	setTexts
	setInteger
	setFlag
	setJSON
	addPair
	setFailed
)

// setting holds the arguments of one setter of the C library; the setter checks the value.
type setting struct {
	name   string
	set    setter
	key    string
	text   hidden
	texts  []string
	number int64
	flag   bool
	err    error
	hooks  *Hooks
}

// hidden returns a text that may be a secret. hidden is a function type, because fmt prints the text of an unexported
// string field, even if the field's type has a String method; fmt never calls a function.
type hidden func() string

func hide(text string) hidden { return func() string { return text } }

func (h hidden) show() string {
	if h == nil {
		return ""
	}
	return h()
}

// The types of the functional options. A function that makes an option has a name that begins with With, List, Charge,
// Search, Product or Request.
type (
	// Option is a setting of a client.
	Option setting
	// ListOption sets what a list contains and where it begins.
	ListOption setting
	// ChargeSearchOption narrows a search for the orders of a charge.
	ChargeSearchOption setting
	// ProductChange is a field of a product to change.
	ProductChange setting
	// RequestOption sets a part of a request made with Client.Request.
	RequestOption setting
)

// Format prints only the option's name for every verb of fmt, because the option's value may be a secret.
func (o Option) Format(to fmt.State, _ rune) { _, _ = fmt.Fprintf(to, "billcore.Option(%s)", o.name) }

func milliseconds(given time.Duration) int64 { return handle.Milliseconds(given) }

// SearchSkew makes the search also find orders created up to this long before the charge. If the local clock and the
// service's clock differ, the search uses the earlier of the two clocks' times of the charge. The default skew is five
// minutes.
func SearchSkew(skew time.Duration) ChargeSearchOption {
	return ChargeSearchOption{name: "skew_ms", set: setInteger, number: milliseconds(skew)}
}

// SearchProduct restricts the search to orders of this product.
func SearchProduct(productID int64) ChargeSearchOption {
	return ChargeSearchOption{name: "product_id", set: setInteger, number: productID}
}

// ProductField changes the field with this name, even when this package has no function for the field. value is any
// value that encoding/json can encode: nil means null, and numbers in json.RawMessage and json.Number keep their
// digits.
func ProductField(name string, value any) ProductChange {
	text, err := json.Marshal(value)
	if err != nil {
		return ProductChange{set: setFailed, err: model.NewError(model.ErrInvalidArgument, "%s is not JSON: %v", name, err)}
	}
	return ProductChange{name: name, set: setJSON, text: hide(string(text))}
}

// RequestQuery adds a query parameter, which the client encodes.
func RequestQuery(name, value string) RequestOption {
	return RequestOption{name: "query", set: addPair, key: name, text: hide(value)}
}

// RequestJSON sets the body to the JSON text of value, which may be any value that encoding/json can encode.
func RequestJSON(value any) RequestOption {
	text, err := json.Marshal(value)
	if err != nil {
		return RequestOption{set: setFailed, err: model.NewError(model.ErrInvalidArgument, "the body is not JSON: %v", err)}
	}
	return RequestOption{name: "json", set: setJSON, text: hide(string(text))}
}

// RequestAcceptAllStatuses makes Request return every complete answer as a Response, even when its status is 4xx or
// 5xx.
func RequestAcceptAllStatuses() RequestOption {
	return RequestOption{name: "raise_on_error", set: setFlag, flag: false}
}

// nativeOptions makes a C options object from the given options; nil when none are given. The caller must free the
// object.
func nativeOptions[T anyOption](
	kind C.billcore_options_kind, given []T,
) (*C.billcore_options, error) {
	if len(given) == 0 {
		return nil, nil
	}
	made := C.bc_options(kind)
	if made.status != C.BILLCORE_OK {
		return nil, failure(made, nil)
	}
	options := (*C.billcore_options)(made.out)
	for _, one := range given {
		if err := apply(options, setting(one)); err != nil {
			C.billcore_options_free(options)
			return nil, err
		}
	}
	return options, nil
}

func apply(options *C.billcore_options, one setting) error {
	name, n := chars(one.name)
	text, m := chars(one.text.show())
	var made C.bg_made
	switch one.set {
	case setText:
		made = C.bc_set_text(options, name, n, text, m)
	case setTexts:
		for _, each := range one.texts {
			text, m = chars(each)
			if made = C.bc_set_text(options, name, n, text, m); made.status != C.BILLCORE_OK {
				break
			}
		}
	case setInteger:
		made = C.bc_set_int64(options, name, n, C.int64_t(one.number))
	case setFlag:
		made = C.bc_set_bool(options, name, n, C.bool(one.flag))
	case setJSON:
		made = C.bc_set_json(options, name, n, text, m)
	case addPair:
		key, k := chars(one.key)
		made = C.bc_add(options, name, n, key, k, text, m)
	case setFailed:
		return one.err
	}
	if made.status != C.BILLCORE_OK {
		return failure(made, nil)
	}
	return nil
}

func failure(made C.bg_made, ended error) error {
	return model.TakeError(int32(made.status), handle.Pointer{C: unsafe.Pointer(made.err)}, ended)
}

func chars(s string) (*C.char, C.size_t) {
	return (*C.char)(unsafe.Pointer(unsafe.StringData(s))), C.size_t(len(s))
}
