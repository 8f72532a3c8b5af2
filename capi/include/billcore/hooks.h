/** @file
 * Hooks: a callback for every attempt of a call, for logs, metrics and traces. Conventions: billcore.h.
 *
 * The caller sets a hook for a client (billcore_client_options_set_hook, billcore_client_changes_set_hook) or for one
 * call (billcore_call_options_set_hook). The hook of a call replaces the client's hook. The library passes no header
 * values and no bodies to a hook, and passes ids only in `path`.
 *
 * Each BILLCORE_MOMENT_REQUEST is followed by exactly one BILLCORE_MOMENT_RESPONSE, even when a token, an interrupt or
 * a lack of memory ends the call, or when a list with pages in flight is stopped or freed. In a forked child process,
 * the library does not call hooks for attempts that the parent process began. */
#ifndef BILLCORE_HOOKS_H
#define BILLCORE_HOOKS_H

#include "billcore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The moment of an attempt at which the library calls the hook. Append-only. */
typedef int32_t billcore_moment;
/** Values of a billcore_moment. */
enum {
  BILLCORE_MOMENT_REQUEST = 1,  /**< before the attempt, which may still have to wait for a connection */
  BILLCORE_MOMENT_RESPONSE = 2, /**< after the attempt, whether it was answered, failed or was cancelled */
  BILLCORE_MOMENT_RETRY = 3     /**< before the wait for another attempt */
};

/** One attempt of a call, as the library passes it to a hook. The struct and its texts are valid only during the
 * callback. Later versions may add members at the end of the struct. */
typedef struct billcore_attempt {
  billcore_moment moment;  /**< one of BILLCORE_MOMENT_* */
  int32_t number;          /**< number of this attempt, from 1 */
  int32_t status;          /**< HTTP status of the answer; 0 before the answer, and when it is incomplete */
  billcore_status failure; /**< why there is no complete answer (_INTERRUPTED: cancelled); BILLCORE_OK otherwise */
  billcore_str method;     /**< HTTP method, such as GET */
  billcore_str route;      /**< such as /subscription/{id}; "(other)" for a path outside of the service interface */
  billcore_str request_id; /**< request id of the answer; empty when the answer has none */
  int64_t duration_micros; /**< after the attempt: how long it took (microseconds) */
  int64_t wait_ms;         /**< BILLCORE_MOMENT_RETRY: time until the next attempt (milliseconds) */
  billcore_str path;       /**< path of a write that was cancelled after it was sent (see billcore_hook), or empty */
  bool sent;               /**< after the attempt: whether any part of the request was sent */
  bool outcome_unknown;    /**< after the attempt: whether the attempt is a write that may or may not have happened */
} billcore_attempt;

/** A hook. The library calls the hook on the thread of the call. If threads share a client, several threads may run
 * the hook at once. When a list with pages in flight is stopped or freed, the library calls the hook on the thread
 * that stops or frees the list. The call waits until the hook returns. The library uses `context` until the client,
 * its calls and its lists are freed; see billcore_release. The hook must not use the handle of a list that is being
 * read, stopped or freed, but may make other calls. A hook cannot change the course or the result of a call.
 *
 * attempt->path is set when a token, an interrupt or a lack of memory ended a write that had been sent. attempt->path
 * is relative to the base URL and contains the id. When attempt->path is set, log a warning: the write may have
 * happened, and its caller may never get an error. */
typedef void (*billcore_hook)(void* context, const billcore_attempt* attempt);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_HOOKS_H */
