/** @file
 * Status codes, texts, buffers and the version, used by all other headers. Conventions: billcore.h. */
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
/* Declares an inline function: a typed wrapper of an exported function. No library exports the wrapper. */
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

/** Version of this header; billcore_version() returns the version of the library. */
#define BILLCORE_VERSION "0.1.0"
/** Version of this header as a number: major * 10000 + minor * 100 + patch. */
#define BILLCORE_VERSION_NUMBER 100

/** The name of a status without its prefix, such as "PAYMENT" for BILLCORE_ERROR_PAYMENT and "OK" for BILLCORE_OK;
 * "UNKNOWN" for an unknown number. Static text.  Threads: any.  @since 0.1 */
BILLCORE_API const char* billcore_status_name(billcore_status status);

/** Borrowed text or bytes. Later versions of the library do not change this struct. */
typedef struct billcore_str {
  const char* data; /**< The bytes; NULL when there are none. */
  size_t len;       /**< Number of bytes. */
} billcore_str;

/** Makes a billcore_str from a string literal. */
#ifdef __cplusplus
#define BILLCORE_STR(literal) (billcore_str{"" literal, sizeof(literal) - 1})
#else
#define BILLCORE_STR(literal) ((billcore_str){"" literal, sizeof(literal) - 1})
#endif

/** Makes a billcore_str that borrows a NUL-terminated text. NULL gives {NULL, 0}, so the caller need not check the
 * result of getenv or of a header look-up for NULL.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_str billcore_str_from(const char* text);

/** Releases the context of a callback. The library calls this function once, on any thread, when it no longer uses the
 * context: when the options are freed or get another callback, and everything made with the options (clients, calls,
 * lists, verifiers) is freed. The library calls `release` even if the function that takes the context fails. If
 * `release` is NULL, the library does not release the context, and the caller must keep the context valid for as long
 * as the library may use it. */
typedef void (*billcore_release)(void* context);

/** Whether two id texts name the same record: true when their bytes are equal, false when either text is {NULL, 0}. The
 * same id may be an integer in a webhook and a string in the REST interface; the texts of the two ids are then equal.
 * Threads: any.  @since 0.1 */
BILLCORE_API bool billcore_same_id(billcore_str a, billcore_str b);

/** Bytes that the caller owns, with a NUL after the last byte. Free with billcore_buf_free. Later versions of the
 * library do not change this struct. */
typedef struct billcore_buf {
  char* data; /**< The bytes; NULL when there are none. */
  size_t len; /**< Number of bytes, without the NUL. */
} billcore_buf;

/** Frees the bytes and zeroes the struct. Accepts NULL and an empty buffer.  @since 0.1 */
BILLCORE_EXPORT void billcore_buf_free(billcore_buf* buf);

/** Version of the library, such as "0.1.0". Static text.  Threads: any.  @since 0.1 */
BILLCORE_API const char* billcore_version(void);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_TYPES_H */
