/** @file
 * billcore: a client of the billing service and a verifier of its webhooks, in C.
 *
 * This one include gives everything. The webhook half alone (signatures, events, resources, errors; no HTTP stack) is
 * `billcore/webhook.h` with the library billcore-webhook; the client half adds `billcore/client.h` and the library
 * billcore.
 *
 * Conventions: they hold for every function, so its own comment only says what is special.
 *
 *  1. Functions that can fail return billcore_status: BILLCORE_OK is 0, the other numbers are append-only. The result
 *     must be used. Functions that cannot fail give their result directly and take NULL handles as empty.
 *  2. `err`, always the last argument, may be NULL. Else it is overwritten: NULL on BILLCORE_OK and BILLCORE_DONE, on
 *     failure a new billcore_error, freed with billcore_error_free. There is no thread-local or global state, and no
 *     init call.
 *  3. The order is handle, inputs, outputs, err. Outputs are zeroed (NULL, 0, false, {NULL, 0}) unless the call
 *     succeeds. An output that is NULL is BILLCORE_ERROR_INVALID_ARGUMENT where its comment does not say
 *     "may be NULL"; so is a NULL handle.
 *  4. Texts and bytes come in as billcore_str, by value; the function copies what it keeps. {NULL, 0} is empty, except
 *     where the comment says "missing". A length or count that no memory holds is BILLCORE_ERROR_INVALID_ARGUMENT.
 *  5. Texts going out as billcore_str are borrowed: they live as long as the handle they were read from, and a NUL
 *     follows them. Only raw JSON (`_raw`) is a slice without a NUL after it. A billcore_buf is owned: free it with
 *     billcore_buf_free.
 *  6. A `billcore_x **out` gives a new handle, owned by the caller, freed with its own `_free`, which accepts NULL.
 *     Never use libc's free. Handles keep alive what they are made of: free them in any order, whichever library they
 *     came from.
 *  7. Options, queries and changes are opaque, made with `_new`, filled with setters, and copied by the call that
 *     takes them. What was not set is left to the library's or the service's default; "off" is a function of its own,
 *     no number is magic. Where a call takes one, NULL means: nothing set.
 *  8. Absence is never a NULL or 0 that could be a value. A field that may be null has the output `bool *present`,
 *     false for null and for absent (`_contains` and `_field` tell the two apart). A required field that is absent is
 *     BILLCORE_ERROR_MISSING_FIELD when it is read, one that is null or of the wrong type BILLCORE_ERROR_DECODE,
 *     with its path, such as `data.price`; never earlier.
 *  9. Iteration returns BILLCORE_OK with an item, BILLCORE_DONE after the last one, or an error. A list inside a
 *     resource has a function `_count` that gives its number of items, and one `_at` that gives the item at an index.
 *  10. Ids are opaque: a text, and whether it came as a JSON integer. Money is int64_t in minor units (cents); what
 *     does not fit is BILLCORE_ERROR_OUT_OF_RANGE (its digits are in the raw text). VAT is in basis points
 *     (2500 = 25 %), vat_rate a number's text in percent. A time is its text as received and int64_t microseconds since
 *     1970-01-01T00:00:00Z (UTC when the text has no offset). Enumerations of the service are texts, since it may add
 *     values.
 *  11. Threads: each type has one of three rules. "Immutable": any number of threads may use a handle at once.
 *     "Shared": any number of threads may call with it at once. "One thread at a time": lock around it. Nothing may use
 *     a handle while or after it is freed. No thread may be cancelled (pthread_cancel) inside a call.
 *  12. No function writes to stdout or stderr, ends the process, or lets an exception out. Out of memory is
 *     BILLCORE_ERROR_OUT_OF_MEMORY; anything unforeseen BILLCORE_ERROR_INTERNAL.
 *  13. Signing secrets and API keys appear in no error and no text that goes out.
 *  14. Functions of single fields, such as billcore_order_total, are inline: they give a function that reads any field
 *     by its name (billcore_resource_int64) the types of C. No library exports them.
 *  15. Every symbol is in one library. All libraries must be of one build (libbillcore does not load with another
 *     libbillcore-webhook), and stay loaded while handles live. Lists as Arrow columns are `billcore/arrow.h` with the
 *     library billcore-arrow.
 *
 * The headers begin with an example. It goes on where a program already has a client and ids, or an event and the
 * parts of a request (body, signature, secret), and declares the rest.
 */
#ifndef BILLCORE_H
#define BILLCORE_H

#include "billcore/client.h"
#include "billcore/webhook.h"

/** @mainpage
 * @copydetails billcore.h */

#endif /* BILLCORE_H */
