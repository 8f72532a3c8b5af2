/* Status codes, texts, buffers and the version: what every other header builds on. Conventions: billcore.h. */
#ifndef BILLCORE_TYPES_H
#define BILLCORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define BILLCORE_EXPORT __attribute__((visibility("default")))
#define BILLCORE_NODISCARD __attribute__((warn_unused_result))
#else
#define BILLCORE_EXPORT
#define BILLCORE_NODISCARD
#endif
#define BILLCORE_API BILLCORE_EXPORT BILLCORE_NODISCARD
/** A function of a header, which no library exports: it gives a function of the library its types. */
#define BILLCORE_INLINE BILLCORE_NODISCARD static inline
#define BILLCORE_INLINE_VOID static inline

#ifdef __cplusplus
#define BILLCORE_CAST(type, pointer) reinterpret_cast<type>(pointer)
#else
#define BILLCORE_CAST(type, pointer) ((type)(pointer))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header; billcore_version() is that of the library. */
#define BILLCORE_VERSION "0.1.0"

/** Result of every function that can fail. Append-only: a number is never changed or used again. */
typedef int32_t billcore_status;
enum {
  BILLCORE_OK = 0,
  BILLCORE_DONE = 1,             /* the iteration is at its end; no error */
  BILLCORE_INVALID_ARGUMENT = 2, /* the call cannot be made so; nothing was sent */
  BILLCORE_CONFIG = 3,           /* an option or a secret cannot work, or the client is closed */
  BILLCORE_OUT_OF_MEMORY = 4,
  BILLCORE_INTERNAL = 5,        /* a fault of this library */
  BILLCORE_SIGNATURE = 6,       /* the webhook's signature is not right: see billcore_error_reason */
  BILLCORE_DECODE = 7,          /* JSON that is not what was promised; the message has the path */
  BILLCORE_OUT_OF_RANGE = 8,    /* a number that does not fit; its digits are in the raw text */
  BILLCORE_API_ERROR = 9,       /* another 4xx or a 3xx of the service */
  BILLCORE_AUTHENTICATION = 10, /* 401 */
  BILLCORE_PAYMENT = 11,        /* 402: the charge could not be processed */
  BILLCORE_NOT_FOUND = 12,      /* 404 */
  BILLCORE_VALIDATION = 13,     /* 422 */
  BILLCORE_RATE_LIMIT = 14,     /* 429 */
  BILLCORE_SERVER = 15,         /* 5xx */
  BILLCORE_TRANSPORT = 16,      /* any other failure to exchange a request */
  BILLCORE_TIMEOUT = 17,        /* no complete answer in time */
  BILLCORE_CONNECTION = 18,     /* no connection, or it broke */
  BILLCORE_TLS = 19,
  BILLCORE_OUTCOME_UNKNOWN = 20, /* a write was sent and may or may not have happened: look before sending it again */
  BILLCORE_PAGINATION = 21,      /* a list that repeats itself or contradicts its own page numbers */
  BILLCORE_INTERRUPTED = 22,     /* the client's interrupt callback said so */
  BILLCORE_ERROR_MISSING_FIELD = 23,     /* a required field that was read is absent; the message has the path */
  BILLCORE_ERROR_BAD_REQUEST = 24,       /* 400 */
  BILLCORE_ERROR_PERMISSION_DENIED = 25, /* 403 */
  BILLCORE_ERROR_CONFLICT = 26           /* 409 */
};

/** The constant's name without BILLCORE_, such as "PAYMENT" (BILLCORE_API_ERROR gives "API", BILLCORE_ERROR_MISSING_FIELD "MISSING_FIELD"); "UNKNOWN" for other
 * numbers. Lives for ever.  Threads: any.  @since 0.1 */
BILLCORE_API const char* billcore_status_name(billcore_status status);

/** Text or bytes that somebody else owns. This struct never changes. */
typedef struct billcore_str {
  const char* data;
  size_t len;
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

/** Do both texts of ids name the same record? True when the bytes are equal: webhooks may carry as an integer the id
 * that the REST interface gives as a string, and its text is the same. Borrows both for the call. False when one of them
 * has no data, which is no id.  Threads: any.  @since 0.1 */
BILLCORE_API bool billcore_same_id(billcore_str a, billcore_str b);

/** Bytes that the caller owns; a NUL follows them. Free with billcore_buf_free. This struct never changes. */
typedef struct billcore_buf {
  char* data;
  size_t len;
} billcore_buf;

/** Frees the bytes and zeroes the struct. NULL and an empty buffer are fine.  @since 0.1 */
BILLCORE_EXPORT void billcore_buf_free(billcore_buf* buf);

/** Version of the library, such as "0.1.0". Lives for ever.  Threads: any.  @since 0.1 */
BILLCORE_API const char* billcore_version(void);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_TYPES_H */
