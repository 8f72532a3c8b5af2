/** @file
 * Hooks: a callback that is told of every attempt of a call, for logs, measures and traces. Conventions: billcore.h.
 *
 * It is set for a client (billcore_client_options_set_hook, billcore_client_changes_set_hook) or for one call
 * (billcore_call_options_set_hook), where it counts instead of the client's. It sees neither header values nor bodies, and
 * an id only in `path`.
 *
 * Each BILLCORE_MOMENT_REQUEST is followed by exactly one BILLCORE_MOMENT_RESPONSE, however the attempt ends: also when
 * a token, an interrupt or a lack of memory ends the call, and when a list is stopped or freed with pages in flight.
 * A forked child is told nothing of its parent's attempts. */
#ifndef BILLCORE_HOOKS_H
#define BILLCORE_HOOKS_H

#include "billcore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an attempt is told for. Append-only. */
typedef int32_t billcore_moment;
/** Values of a billcore_moment. */
enum {
  BILLCORE_MOMENT_REQUEST = 1,  /**< before it; it may still have to wait for a connection */
  BILLCORE_MOMENT_RESPONSE = 2, /**< after it, with an answer or without, or given up */
  BILLCORE_MOMENT_RETRY = 3     /**< before the wait for another one */
};

/** One attempt of a call. The library makes it; it and its texts are valid during the callback only. New members are
 * added at its end. */
typedef struct billcore_attempt {
  billcore_moment moment;  /**< which BILLCORE_MOMENT_ this is */
  int32_t number;          /**< of this attempt, from 1 */
  int32_t status;          /**< of the answer; 0 before it, and without a complete one */
  billcore_status failure; /**< why there is no complete answer (_INTERRUPTED: given up); BILLCORE_OK otherwise */
  billcore_str method;     /**< such as GET */
  billcore_str route;      /**< such as /subscription/{id}; "(other)" for a path that is not part of the interface */
  billcore_str request_id; /**< of the answer; empty when it has none */
  int64_t duration_micros; /**< of the attempt, after it (microseconds) */
  int64_t wait_ms;         /**< BILLCORE_MOMENT_RETRY: until the next attempt (milliseconds) */
  billcore_str path;       /**< of a write that was sent and given up; see billcore_hook. Empty otherwise */
  bool sent;               /**< after the attempt: whether at least a part of the request was sent */
  bool outcome_unknown;    /**< after the attempt: a write that may or may not have happened */
} billcore_attempt;

/** Called on the thread of the call, so by several threads at once where they share a client; for pages that are given up,
 * on the thread that stops or frees their list. The call waits for it. The library uses `context` until the client, its
 * calls and its lists are gone; see billcore_release. The hook must not use the handle of a list that is being read,
 * stopped or freed, and cannot change what a call does; it may make other calls.
 *
 * attempt->path is set when this side gave up a write that had been sent: a token, an interrupt, a lack of memory. It is
 * relative to the base URL, and has the id. The write may have happened, so warn of it: perhaps no error reaches the caller. */
typedef void (*billcore_hook)(void* context, const billcore_attempt* attempt);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_HOOKS_H */
