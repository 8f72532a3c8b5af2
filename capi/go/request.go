package billcore

/*
#cgo CFLAGS: -I${SRCDIR}/internal/handle
#include "client.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"net/http"
	"unsafe"

	"billcore.example/go/internal/handle"
	"billcore.example/go/internal/model"
)

// Response is the answer to a request made with Client.Request. Compression of the Body (gzip or deflate) is already
// decoded; the Header stays as received.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte
	Attempts  int // number of attempts of the request
	RequestID string
}

// JSON decodes the body as json.Unmarshal does; the argument into is a pointer to the result.
func (r *Response) JSON(into any) error { return json.Unmarshal(r.Body, into) }

// Request sends a request to any path. method is GET, POST, PUT, PATCH or DELETE. A request with a method other than
// GET counts as a write, which is sent at most once. path is relative to the base URL, begins with a slash, is already
// percent-encoded, and has no query.
func (c *Client) Request(ctx context.Context, method, path string, options ...RequestOption) (*Response, error) {
	native, err := nativeOptions(C.BILLCORE_OPTIONS_OF_REQUEST, options)
	if err != nil {
		return nil, err
	}
	defer C.billcore_options_free(native)
	made, err := c.perform(ctx, newOperation("request").text("method", method).text("path", path), native)
	return response(made, err)
}

func resource[T model.Returned](made C.bg_made, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return model.NewRecord[T](handle.Pointer{C: made.out}), nil
}

// response copies the C response into a Response and frees the C response.
func response(made C.bg_made, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	native := (*C.billcore_response)(made.out)
	defer C.billcore_response_free(native)
	answer := C.bc_answer_of(native)
	defer C.billcore_response_info_free(answer.info)
	if answer.status != C.BILLCORE_OK {
		return nil, model.TakeError(int32(answer.status), handle.Pointer{C: unsafe.Pointer(answer.err)}, nil)
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
