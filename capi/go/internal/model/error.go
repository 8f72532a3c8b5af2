package model

/*
#cgo CFLAGS: -I${SRCDIR}/../handle
#include "native.h"
#include <billcore/webhook.h>

typedef struct bg_error {
  billcore_str message, api_code, api_message, body, request_id, method, path, field_path, cause_message;
  double retry_after;
  int64_t attempted_at;
  billcore_status status, cause;
  billcore_reason reason;
  int32_t http_status, attempts;
  bool has_retry_after, outcome_unknown, sent_late, attempted;
} bg_error;

static void bg_error_read(const billcore_error* error, bg_error* out) {
  out->status = billcore_error_status(error);
  out->message = billcore_error_message(error);
  out->http_status = billcore_error_http_status(error);
  out->api_code = billcore_error_api_code(error);
  out->api_message = billcore_error_api_message(error);
  out->body = billcore_error_body(error);
  out->request_id = billcore_error_request_id(error);
  out->has_retry_after = billcore_error_retry_after(error, &out->retry_after);
  out->attempts = billcore_error_attempts(error);
  out->outcome_unknown = billcore_error_outcome_unknown(error);
  out->sent_late = billcore_error_sent_late(error);
  out->reason = billcore_error_reason(error);
  out->method = billcore_error_method(error);
  out->path = billcore_error_path(error);
  out->field_path = billcore_error_field_path(error);
  out->attempted = billcore_error_attempted_at(error, &out->attempted_at);
  out->cause = billcore_error_cause(error);
  out->cause_message = billcore_error_cause_message(error);
}
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"billcore.example/go/internal/handle"
)

// Error is the error of a failed call. No field shows a secret or an API key. An Error is immutable.
//
// Compare an Error with a [Code] by [errors.Is]: errors.Is(err, ErrPayment). [ErrAPI], [ErrTransport] and [ErrDecode]
// also match their more specific codes. [ErrOutcomeUnknown] matches every error of a write that may have happened.
type Error struct {
	Code    Code
	Message string // One line: what was wrong and what to do.

	HTTPStatus int    // HTTP status of the answer, or 0. For ErrSignature, the status with which your receiver should answer.
	APICode    string // Member `code` of the service's error body.
	APIMessage string // Member `message` of the service's error body.
	Body       string // Beginning of the answer's body, with secrets removed.
	RequestID  string // Request id from the answer.
	Method     string // HTTP method of the request.
	Path       string // Percent-encoded path of the request, relative to the base URL.
	Attempts   int    // Number of attempts of the request.

	// RetryAfter is how long the service asks the client to wait before the next attempt; valid when HasRetryAfter is
	// set.
	RetryAfter    time.Duration
	HasRetryAfter bool

	// OutcomeUnknown reports that a write was sent and may or may not have happened. Before you send the write again,
	// check whether it happened.
	OutcomeUnknown bool
	// SentLate reports that a write may have been sent after its deadline, because the process or the machine was stopped
	// while the library sent it.
	SentLate     bool
	AttemptedAt  time.Time // When the write of unknown outcome was sent; else the zero time.
	Cause        Code      // The failure that led to ErrOutcomeUnknown or ErrPossiblyMissed; else 0.
	CauseMessage string

	FieldPath string // Path of the JSON value that could not be read, such as data.price.
	Reason    Reason // Why a delivery was refused.

	ended  error // error of the context that ended the call, or nil
	native *handle.Handle
}

// Error returns the message.
func (e *Error) Error() string {
	if e == nil {
		return "billcore: no error"
	}
	return "billcore: " + e.Message
}

// Is reports whether target is the error's Code or a more general Code; errors.Is calls this method.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	if !ok || e == nil {
		return false
	}
	if code == ErrOutcomeUnknown && e.OutcomeUnknown {
		return true
	}
	for own := e.Code; own != 0; own = own.parent() {
		if own == code {
			return true
		}
	}
	return false
}

// Unwrap returns the error of the context that ended the call: context.Canceled or context.DeadlineExceeded.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.ended
}

// Timeout reports whether the client's time-out or the context's deadline passed. net.Error has the same method.
func (e *Error) Timeout() bool {
	if e == nil {
		return false
	}
	return e.Code == ErrTimeout || e.Cause == ErrTimeout || errors.Is(e.ended, context.DeadlineExceeded)
}

// Error returns the name of the code. This method makes Code an error type, so that a Code can be the target of
// errors.Is.
func (c Code) Error() string { return "billcore: " + c.String() }

// Reason is the reason why a delivery was refused. String returns "none" for an unknown value.
type Reason int32

// String returns the name, such as "mismatch".
func (r Reason) String() string {
	return C.GoString(C.billcore_reason_name(C.billcore_reason(r)))
}

// NewError makes an error that the C library did not report.
func NewError(code Code, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, arguments...)}
}

// TakeError reads an error of the C library and frees it. ended is the error of the context that ended the
// call, or nil.
func TakeError(status int32, from handle.Pointer, ended error) *Error {
	given := (*C.billcore_error)(from.C)
	if given == nil { // the C library had no memory for an error object
		return &Error{Code: Code(status), Message: Code(status).String(), ended: ended}
	}
	var read C.bg_error
	C.bg_error_read(given, &read)
	out := &Error{
		Code: Code(read.status), Message: text(read.message), HTTPStatus: int(read.http_status),
		APICode: text(read.api_code), APIMessage: text(read.api_message), Body: text(read.body),
		RequestID: text(read.request_id), Method: text(read.method), Path: text(read.path), Attempts: int(read.attempts),
		RetryAfter: time.Duration(float64(read.retry_after) * float64(time.Second)), HasRetryAfter: bool(read.has_retry_after),
		OutcomeUnknown: bool(read.outcome_unknown), SentLate: bool(read.sent_late), Cause: Code(read.cause), CauseMessage: text(read.cause_message),
		FieldPath: text(read.field_path), Reason: Reason(read.reason), ended: ended,
	}
	if bool(read.attempted) {
		out.AttemptedAt = time.UnixMicro(int64(read.attempted_at)).UTC()
	}
	if !out.OutcomeUnknown && out.Code != ErrPossiblyMissed {
		C.billcore_error_free(given)
		return out
	}
	out.native = new(handle.Handle) // FindCharges and FoundCharges pass this C error to the library
	out.native.Set(from.C, freeError, 0)
	runtime.SetFinalizer(out.native, (*handle.Handle).Close)
	return out
}

func freeError(pointer unsafe.Pointer) { C.billcore_error_free((*C.billcore_error)(pointer)) }

func text(from C.billcore_str) string { return handle.String(unsafe.Pointer(from.data), from.len) }
