/** @file
 * billcore: a client of the billing service and a verifier of its webhooks, in C.
 *
 * This header includes all others except `billcore/arrow.h`. The webhook half alone (signatures, events, resources,
 * errors; no HTTP stack) is `billcore/webhook.h` with the library billcore-webhook; the client half adds
 * `billcore/client.h` and the library billcore.
 *
 * The following conventions hold for every function; the comment of a function only says what is special about it.
 *
 *  1. Functions that can fail return billcore_status: BILLCORE_OK is 0; later versions add numbers but change none. The
 *     caller must use the result. Functions that cannot fail return their value directly; for a NULL handle they return
 *     an empty value.
 *  2. `err`, always the last argument, may be NULL. Otherwise `*err` becomes NULL on BILLCORE_OK and BILLCORE_DONE, and
 *     on failure a new billcore_error: free it with billcore_error_free. The library has no thread-local or global
 *     state and needs no init call.
 *  3. The order of arguments is handle, inputs, outputs, err. Outputs are zeroed (NULL, 0, false, {NULL, 0}) unless the
 *     call succeeds. A NULL handle or output pointer gives BILLCORE_ERROR_INVALID_ARGUMENT, unless the function's
 *     comment says "may be NULL".
 *  4. Texts and bytes are passed as billcore_str, by value; the function copies what it keeps. {NULL, 0} is an empty
 *     text; where the function's comment says so, {NULL, 0} is a missing text instead. A length or count of PTRDIFF_MAX
 *     or more gives BILLCORE_ERROR_INVALID_ARGUMENT.
 *  5. Texts that a function returns as billcore_str are borrowed: they are valid as long as the handle they were read
 *     from, and a NUL follows the text. Only raw JSON (functions that end in `_raw`) has no NUL after it. A
 *     billcore_buf belongs to the caller: free it with billcore_buf_free.
 *  6. A `billcore_x **out` receives a new handle that the caller owns and frees with the `_free` of its type, which
 *     accepts NULL. Never use libc's free. A handle keeps the data that it refers to alive: free handles in any order,
 *     with any of the libraries.
 *  7. Options, queries and changes are opaque, made with `_new`, filled with setters, and copied by the call that takes
 *     them. An option that is not set has the library's or the service's default. No special number turns an option
 *     off: a function of its own does (`_set_no_timeout`). NULL instead of options means that no option is set.
 *  8. A missing value is reported separately, never by a NULL or 0 that could be a value. A field that may be null has
 *     the output `bool *present`, false for null and for absent (`_contains` and `_field` tell the two apart). Fields
 *     are checked only when they are read: an absent required field gives BILLCORE_ERROR_MISSING_FIELD, a null or wrong
 *     type BILLCORE_ERROR_DECODE, both with the field's path, such as `data.price`.
 *  9. A function that iterates returns BILLCORE_OK with an item, BILLCORE_DONE after the last item, or an error. A list
 *     inside a resource has a function `_count` that gives its number of items, and one `_at` that gives the item at an
 *     index.
 *  10. Ids are opaque: a text, and whether it was received as a JSON integer. Money is int64_t in minor units (cents);
 *      a number that does not fit gives BILLCORE_ERROR_OUT_OF_RANGE (its digits are in the raw text). VAT is in basis
 *      points (2500 = 25 %); vat_rate is the text of a number in percent. A time is its text as received and int64_t
 *      microseconds since 1970-01-01T00:00:00Z (UTC when the text has no offset). Enumerations of the service are
 *      texts, since the service may add values.
 *  11. Each type has one of three thread rules. "Immutable": any number of threads may read a handle at once. "Shared":
 *      any number of threads may call functions with it at once. "One thread at a time": the caller must lock around
 *      each use of a handle. No thread may use a handle while or after it is freed. No thread may be cancelled
 *      (pthread_cancel) inside a call.
 *  12. No function writes to stdout or stderr, ends the process, or throws an exception. A function returns
 *      BILLCORE_ERROR_OUT_OF_MEMORY when memory runs out, and BILLCORE_ERROR_INTERNAL after a fault of the library.
 *  13. Signing secrets and API keys appear in no error and no other text that the library returns.
 *  14. Functions for a single field, such as billcore_order_total, are inline and typed: they call a function that
 *      reads any field by its name (billcore_resource_int64). No library exports them.
 *  15. Every symbol is in one library. All libraries must be of one build (libbillcore does not load with another
 *      libbillcore-webhook), and stay loaded while handles exist. `billcore/arrow.h`, with the library billcore-arrow,
 *      reads lists as Arrow columns.
 *
 * Most headers begin with an example. The examples assume a client and ids, or an event and the parts of a request
 * (body, signature, secret), and declare everything else. */
#ifndef BILLCORE_H
#define BILLCORE_H

#include "billcore/client.h"
#include "billcore/webhook.h"

/** @mainpage
 * @copydetails billcore.h */

#endif /* BILLCORE_H */
