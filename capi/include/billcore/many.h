/** @file
 * Reads many records, several at once, on the calling thread and without starting another. Conventions: billcore.h.
 *
 * The program adds reads while billcore_many_wants() says so, and takes their results, one by one. A result has the
 * number that the program gave to its read, and a resource or the error of its call, so that one that fails does not stop
 * the others. Memory is bounded by the number of calls in flight, whatever the number of reads. Requests progress while
 * billcore_many_next() waits; a pause of the program does not count towards the time-out of a call. After an answer with
 * status 429 fewer calls are in flight. To wait for other descriptors too, see billcore_loop_many_new.
 *
 * @code{.c}
 * uint64_t number = 0;
 * billcore_operation* get = NULL;
 * billcore_many* many = NULL;
 * billcore_result* result = NULL;
 * billcore_error *err = NULL, *failure = NULL;
 * billcore_status status = billcore_operation_new(BILLCORE_STR("orders.get"), &get, &err);
 * if (status == BILLCORE_OK) status = billcore_operation_set_text(get, BILLCORE_STR("id"), order_id, &err);
 * if (status == BILLCORE_OK) status = billcore_many_new(client, 16, true, NULL, &many, &err);
 * if (status == BILLCORE_OK) status = billcore_many_add(many, get, 7, &err);  // while billcore_many_wants(many)
 * if (status == BILLCORE_OK) status = billcore_many_next(many, &number, &result, &failure, &err);
 * billcore_result_free(result), billcore_error_free(failure);  // what the read gave
 * billcore_many_free(many), billcore_operation_free(get), billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_MANY_H
#define BILLCORE_MANY_H

#include "billcore/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Reads in flight and their results. Freed with billcore_many_free. Threads: one thread at a time. */
typedef struct billcore_many billcore_many;

/** Makes it, with at most `concurrency` calls in flight (from 1), and with the options of each call, or NULL; the
 * total_timeout_ms of the options begins with the first read. `ordered`: the results come in the order of the reads;
 * otherwise in the order in which the answers arrive. BILLCORE_ERROR_CONFIG after billcore_client_close. The caller frees
 * *out; the client may be freed before.  @since 0.1 */
BILLCORE_API billcore_status billcore_many_new(const billcore_client* client, int32_t concurrency, bool ordered,
                                               const billcore_call_options* call, billcore_many** out,
                                               billcore_error** err);

/** Gives up the calls in flight, and frees it; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_many_free(billcore_many* many);

/** Whether a further read may be added now; false for NULL.  @since 0.1 */
BILLCORE_API bool billcore_many_wants(const billcore_many* many);

/** Starts a read, such as "orders.get". BILLCORE_ERROR_INVALID_ARGUMENT for a write, a list, an operation whose result is
 * no resource, and while billcore_many_wants is false; BILLCORE_ERROR_TIMEOUT when the total time-out has passed.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_many_add(billcore_many* many, billcore_operation* read, uint64_t number,
                                               billcore_error** err);

/** Waits for a result. *number is that of its read; *result or *failure, which the caller frees, is NULL. Both are NULL
 * when no read is left. BILLCORE_ERROR_TIMEOUT when the total time-out has passed, BILLCORE_ERROR_INTERRUPTED when the
 * interrupt callback or the cancel token of the options ends the wait; the calls stay in flight then. BILLCORE_DONE when
 * the reads are made on a loop and the next result is not here.  @since 0.1 */
BILLCORE_API billcore_status billcore_many_next(billcore_many* many, uint64_t* number, billcore_result** result,
                                                billcore_error** failure, billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_MANY_H */
