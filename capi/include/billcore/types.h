/** @file
 * Status codes, texts, buffers and the version: what every other header builds on. Conventions: billcore.h. */
#ifndef BILLCORE_TYPES_H
#define BILLCORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "billcore/status.h"

/** @cond */
#if defined(__GNUC__) || defined(__clang__)
#define BILLCORE_EXPORT __attribute__((visibility("default")))
#define BILLCORE_NODISCARD __attribute__((warn_unused_result))
#else
#define BILLCORE_EXPORT
#define BILLCORE_NODISCARD
#endif
#define BILLCORE_API BILLCORE_EXPORT BILLCORE_NODISCARD
/* A function of a header, which no library exports: it gives a function of the library its types. */
#define BILLCORE_INLINE BILLCORE_NODISCARD static inline
#define BILLCORE_INLINE_VOID static inline

#ifdef __cplusplus
#define BILLCORE_CAST(type, pointer) reinterpret_cast<type>(pointer)
#define BILLCORE_INT64(number) static_cast<int64_t>(number)
#else
#define BILLCORE_CAST(type, pointer) ((type)(pointer))
#define BILLCORE_INT64(number) ((int64_t)(number))
#endif
/** @endcond */

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header; billcore_version() is that of the library. */
#define BILLCORE_VERSION "0.1.0"
/** The same as a number: major * 10000 + minor * 100 + patch. */
#define BILLCORE_VERSION_NUMBER 100

/** The name of a status without BILLCORE_ERROR_, such as "PAYMENT" (of the first two without BILLCORE_); "UNKNOWN" for
 * other numbers. Lives for ever.  Threads: any.  @since 0.1 */
BILLCORE_API const char* billcore_status_name(billcore_status status);

/** Text or bytes that are borrowed. This struct never changes. */
typedef struct billcore_str {
  const char* data; /**< The bytes; NULL when there are none. */
  size_t len;       /**< Their number, in bytes. */
} billcore_str;

/** A billcore_str of a string literal. */
#ifdef __cplusplus
#define BILLCORE_STR(literal) (billcore_str{"" literal, sizeof(literal) - 1})
#else
#define BILLCORE_STR(literal) ((billcore_str){"" literal, sizeof(literal) - 1})
#endif

/** A billcore_str of a NUL-terminated text, which it borrows; {NULL, 0} of NULL (so that getenv and look-ups of headers
 * can be passed on as they are).  Threads: any.  @since 0.1 */
BILLCORE_API billcore_str billcore_str_from(const char* text);

/** Releases the context of a callback. The library calls it once, on any thread, when it no longer uses the context: the
 * options are freed or have another callback, and the clients, calls, lists and verifiers that were made with them are
 * gone; or when the function that takes the context fails. NULL: nothing is called, and the context must live as long. */
typedef void (*billcore_release)(void* context);

/** Do both texts of ids name the same record? True when the bytes are equal: webhooks may carry as an integer the id
 * that the REST interface gives as a string, and its text is the same. Borrows both for the call. False when one of
 * them has no data.  Threads: any.  @since 0.1 */
BILLCORE_API bool billcore_same_id(billcore_str a, billcore_str b);

/** Bytes that the caller owns; a NUL follows them. Free with billcore_buf_free. This struct never changes. */
typedef struct billcore_buf {
  char* data; /**< The bytes; NULL when there are none. */
  size_t len; /**< Their number, without the NUL. */
} billcore_buf;

/** Frees the bytes and zeroes the struct. NULL and an empty buffer are fine.  @since 0.1 */
BILLCORE_EXPORT void billcore_buf_free(billcore_buf* buf);

/** Version of the library, such as "0.1.0". Lives for ever.  Threads: any.  @since 0.1 */
BILLCORE_API const char* billcore_version(void);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_TYPES_H */
