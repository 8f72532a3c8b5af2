/** @file
 * billcore: a client of the billing service and a verifier of its webhooks, in C.
 *
 * This header includes all others except `billcore/arrow.h`. For webhooks alone (signatures, events, resources,
 * errors; no HTTP stack), include `billcore/webhook.h` and link the library billcore-webhook. For the client, also
 * include `billcore/client.h` and link the library billcore.
 *
 * The following conventions apply to every function; the comment of a function describes only the differences from
 * them.
 *
 *  1. Functions that can fail return billcore_status: BILLCORE_OK is 0; later versions may add numbers, but never
 *     change a number. The caller must check the returned status. Functions that cannot fail return their value
 *     directly; for a NULL handle they return an empty value.
 *  2. `err`, always the last argument, may be NULL. If `err` is not NULL, the function sets `*err`: to NULL when it
 *     returns BILLCORE_OK or BILLCORE_DONE, and to a new billcore_error when it fails. The caller frees the
 *     billcore_error with billcore_error_free. The library needs no init call, and keeps neither errors nor settings
 *     in thread-local or global state.
 *  3. The order of arguments is handle, inputs, outputs, err. Unless the call succeeds, the function sets its outputs
 *     to zero (NULL, 0, false, {NULL, 0}). A NULL handle or output pointer gives BILLCORE_ERROR_INVALID_ARGUMENT,
 *     unless the function's comment says "may be NULL".
 *  4. The caller passes texts and bytes as billcore_str, by value; a function copies the bytes that it keeps. {NULL,
 *     0} is an empty text; where the function's comment says so, {NULL, 0} is a missing text instead. A length or
 *     count of PTRDIFF_MAX or more gives BILLCORE_ERROR_INVALID_ARGUMENT.
 *  5. Texts that a function returns as billcore_str are borrowed: they are valid until the handle from which they were
 *     read is freed, and a NUL follows the text. Only raw JSON, from the functions whose names end in `_raw`, has no
 *     NUL after it. A billcore_buf belongs to the caller: free it with billcore_buf_free.
 *  6. A `billcore_x **out` receives a new handle that the caller owns and frees with the `_free` of its type, which
 *     accepts NULL. Never free a handle with libc's free(). A handle keeps the data that it refers to alive: free
 *     handles in any order.
 *  7. Options, queries and changes are opaque objects. The caller makes such an object with `_new` and fills it with
 *     setters; the function that takes the object copies it. If the caller does not set an option, the default of the
 *     library or of the service applies. To turn an option off, call a separate function (such as `_set_no_timeout`);
 *     no value of the option means "off". NULL in place of an options object means that no option is set.
 *  8. A separate output, not NULL or 0, says whether a value is missing, because NULL or 0 could be a value. The getter
 *     of a field that may be null has the output `bool *present`, which is false for a null and for an absent field
 *     (`_contains` and `_field` distinguish the two). The library checks a field only when the caller reads it: an
 *     absent required field gives BILLCORE_ERROR_MISSING_FIELD; a required field that is null, or a value of the wrong
 *     type, gives BILLCORE_ERROR_DECODE. An error about a field contains the field's path, such as `data.price`.
 *  9. A function that iterates returns BILLCORE_OK with an item, BILLCORE_DONE after the last item, or an error. A list
 *     inside a resource has a function `_count`, which returns the number of items, and a function `_at`, which returns
 *     the item at an index.
 *  10. An id is opaque. The library returns an id as a text and a flag that says whether the service sent the id as a
 *      JSON integer. Money is int64_t in minor units (cents); a number that does not fit gives
 *      BILLCORE_ERROR_OUT_OF_RANGE (its digits are in the raw text). VAT is in basis points (2500 = 25 %); vat_rate is
 *      the text of a number in percent. A time is returned both as the text received and as int64_t microseconds since
 *      1970-01-01T00:00:00Z (a text without an offset counts as UTC). Enumerations of the service are returned as
 *      texts, because the service may add values.
 *  11. Each handle type has one of three thread rules. "Immutable": any number of threads may read a handle at once.
 *      "Shared": any number of threads may call functions with a handle at once. "One thread at a time": the caller
 *      must lock around each use of a handle. No thread may use a handle that another thread is freeing or has freed.
 *      No thread may be cancelled (pthread_cancel) inside a call to the library.
 *  12. No function writes to stdout or stderr, ends the process, or throws an exception. A function returns
 *      BILLCORE_ERROR_OUT_OF_MEMORY when memory runs out, and BILLCORE_ERROR_INTERNAL after a fault of the library.
 *  13. Signing secrets and API keys never appear in an error or in any other text that the library returns.
 *  14. Functions for a single field, such as billcore_order_total, are inline and typed: they call a function that
 *      reads any field by its name (billcore_resource_int64). So are the operations, such as
 *      billcore_subscription_charge: see billcore/operation.h. The inline functions are not exported symbols.
 *  15. Every exported symbol is in exactly one library. All libraries must come from the same build (libbillcore does
 *      not load with the libbillcore-webhook of another build), and must stay loaded while handles exist. The
 *      functions of `billcore/arrow.h` read lists as Arrow columns.
 *
 * Most headers begin with an example. The examples assume variables for a client and ids, or for an event and the
 * parts of a request (body, signature, secret), and declare all other variables. */
#ifndef BILLCORE_H
#define BILLCORE_H

#include "billcore/loop.h"
#include "billcore/many.h"
#include "billcore/webhook.h"

/** @mainpage
 * @copydetails billcore.h */

#endif /* BILLCORE_H */
