/** @file
 * A loop: calls that do not block, for a program that waits for many descriptors at once. Conventions: billcore.h.
 *
 * A thread starts any number of calls on a loop, and waits with poll(2), epoll, libuv, GLib or the like until the
 * loop's descriptor is readable. Then the thread calls billcore_loop_process, which sends, receives, retries and ends
 * calls without waiting. The descriptor is also readable when a call's time-out passes or a retry is due, so the
 * program needs no timer. The library starts no thread for a loop (libcurl's short-lived thread for a DNS look-up
 * excepted). Starting a call may send its request over an open connection. While the program calls no function of the
 * loop, nothing is sent and no call ends; a call whose time-out passes in the meantime is not sent late, and ends with
 * BILLCORE_ERROR_TIMEOUT in the next billcore_loop_process. A loop has up to 100 connections of its own; further calls
 * wait for a free connection, 2 KB each, and their time-outs run.
 *
 * Each call that was started has one end, with the result and the errors of billcore_client_perform. The library passes
 * the end to the call's `done`; the ends of calls without `done` wait for billcore_loop_next. Only billcore_loop_free
 * ends calls without an end of their own. A write that is given up is reset, as everywhere (core/guarantees.md).
 *
 * Callbacks (`done`, `release`, and the hooks of calls) run within functions of the loop, on their thread. A callback
 * may start and cancel calls, read and free lists, and free the loop, which then is freed when the function returns
 * from which the callback was called. A callback must not call billcore_loop_process, which refuses it, nor leave by
 * longjmp() or pthread_exit(). C++ exceptions from a callback are ignored. A hook must not read or free the list of its
 * page.
 *
 * After fork(), the loop belongs to the parent. In the child, its functions give BILLCORE_ERROR_CONFIG, no call ends,
 * and billcore_loop_free, which is safe to call there, frees the memory and leaves the parent's connections alone.
 *
 * @code{.c}
 * billcore_loop* loop = NULL;
 * billcore_operation* get = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_loop_new(client, &loop, &err);
 * if (status == BILLCORE_OK) status = billcore_operation_new(BILLCORE_STR("orders.get"), &get, &err);
 * if (status == BILLCORE_OK) status = billcore_operation_set_text(get, BILLCORE_STR("id"), order_id, &err);
 * if (status == BILLCORE_OK) status = billcore_loop_start(loop, get, NULL, print_order, NULL, NULL, NULL, &err);
 * while (status == BILLCORE_OK && billcore_loop_running(loop) > 0) {
 *   wait_until_readable(billcore_loop_descriptor(loop));
 *   status = billcore_loop_process(loop, NULL, &err);  // calls print_order
 * }
 * billcore_loop_free(loop), billcore_operation_free(get), billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_LOOP_H
#define BILLCORE_LOOP_H

#include "billcore/client.h"
#include "billcore/many.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loop. Freed with billcore_loop_free. Threads: one thread at a time, except for billcore_loop_cancel. A function
 * that finds another thread within the loop gives BILLCORE_ERROR_INVALID_ARGUMENT; rely on a lock, not on this check.
 * The lists and the reads (billcore/many.h) on a loop share its thread rule. */
typedef struct billcore_loop billcore_loop;

/** Names a call that was started, among the calls of its loop. Never 0, and never used again. */
typedef uint64_t billcore_ticket;

/** Takes the end of a call. `failure` is NULL if the call succeeded, and otherwise the error that
 * billcore_client_perform would have returned (billcore_error_status has its status). `result` is NULL after a failure,
 * and if the call has no result. The function frees both: `result` with billcore_result_free, or by taking what it has,
 * and `failure` with billcore_error_free. Only billcore_loop_process calls the function. */
typedef void (*billcore_done)(void* context, billcore_ticket ticket, billcore_result* result, billcore_error* failure);

/** Makes a loop for the calls of a client. The client may be closed or freed before the loop: calls in flight finish,
 * and after billcore_client_close further starts give BILLCORE_ERROR_CONFIG. BILLCORE_ERROR_INTERNAL when the process
 * has no three free descriptors. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_new(const billcore_client* client, billcore_loop** out,
                                               billcore_error** err);

/** Gives up all calls of the loop, without their ends, and frees the loop; accepts NULL. The hooks of the calls learn
 * of each attempt that was in flight. A list that was read on the loop blocks again. The operating system closes the
 * descriptor: stop watching it first.  @since 0.1 */
BILLCORE_EXPORT void billcore_loop_free(billcore_loop* loop);

/** Gives further calls of the loop the options and hooks of another client, which shares the connections of the loop's
 * client (billcore_client_with_options). BILLCORE_ERROR_INVALID_ARGUMENT for a client with other connections.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_loop_use_client(billcore_loop* loop, const billcore_client* client,
                                                      billcore_error** err);

/** The loop's descriptor, always the same: readable when billcore_loop_process has something to do. It belongs to the
 * loop: do not close, read or write it. -1 for NULL.  @since 0.1 */
BILLCORE_API int billcore_loop_descriptor(const billcore_loop* loop);

/** Advances all calls without waiting, then calls `done` for each call that has ended. After 2 ms of work, not counting
 * callbacks, the function begins nothing new (a TLS handshake that it has begun may take longer), and the descriptor
 * stays readable. *more says whether the descriptor is still readable. An edge-triggered poller (EPOLLET, as in Go and
 * in Rust's tokio) calls the function until *more is false; for other pollers `more` may be NULL. After an error the
 * loop remains usable, and the calls that have ended have got their ends. BILLCORE_ERROR_INVALID_ARGUMENT when a
 * callback of the loop calls the function, and when the program has closed the descriptor; the calls then make progress
 * only as often as the function is called.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_process(billcore_loop* loop, bool* more, billcore_error** err);

/** Starts an operation, with the client's options or those of `call` (may be NULL). A write is used up by it: see
 * billcore_operation. If the function fails, the call has not begun, and has no end. The end goes to `done` with
 * `context`, or, with NULL as `done`, to billcore_loop_next. The library passes `context` to `release` (may be NULL)
 * after the end, when the call is given up, and when the function fails. An interrupt callback of the options has no
 * effect, and a cancel token gives BILLCORE_ERROR_INVALID_ARGUMENT: use billcore_loop_cancel. *ticket names the call;
 * ticket may be NULL.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_start(billcore_loop* loop, billcore_operation* operation,
                                                 const billcore_call_options* call, billcore_done done, void* context,
                                                 billcore_release release, billcore_ticket* ticket,
                                                 billcore_error** err);

/** Starts to fetch the next page of a list, unless the list has unread items or is at its end. The call has no result:
 * after its end, read what has arrived with billcore_list_next or another function of billcore/pager.h, which gives
 * BILLCORE_DONE at the end of the list. From the first fetch on, the functions that read the list do not wait: they
 * give BILLCORE_ERROR_INVALID_ARGUMENT when the next page is not here. They prefetch as usual. The list must come from
 * the loop's client, or from one that shares its connections, must have no cancel token, and can have one fetch at a
 * time. It may be freed at any time; a fetch in flight still has its end. The other arguments are those of
 * billcore_loop_start. @since 0.1 */
BILLCORE_API billcore_status billcore_loop_fetch(billcore_loop* loop, billcore_list* list, billcore_done done,
                                                 void* context, billcore_release release, billcore_ticket* ticket,
                                                 billcore_error** err);

/** Starts billcore_subscription_find_charges. The result is a page of orders: see billcore_result_take_orders. The
 * other arguments are those of billcore_loop_start.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_find_charges(billcore_loop* loop, const billcore_error* charge,
                                                        const billcore_charge_search* search,
                                                        const billcore_call_options* call, billcore_done done,
                                                        void* context, billcore_release release,
                                                        billcore_ticket* ticket, billcore_error** err);

/** Starts billcore_subscription_find_charges_since, as billcore_loop_find_charges.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_find_charges_since(billcore_loop* loop, billcore_str id, int64_t unix_micros,
                                                              const billcore_charge_search* search,
                                                              const billcore_call_options* call, billcore_done done,
                                                              void* context, billcore_release release,
                                                              billcore_ticket* ticket, billcore_error** err);

/** Takes the result of a search for charges, as billcore_result_take_page. The caller frees *out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_result_take_orders(billcore_result** result, billcore_order_page** out,
                                                            billcore_error** err) {
  billcore_page* page = NULL;
  const billcore_status status = billcore_result_take_page(result, out == NULL ? NULL : &page, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_order_page*, page);
  return status;
}

/** Makes many reads on the loop, with its client; otherwise as billcore_many_new. The functions of billcore/many.h do not
 * wait for them: billcore_many_next gives BILLCORE_DONE when the next result is not here. After billcore_loop_free they
 * give BILLCORE_ERROR_INVALID_ARGUMENT. The options have no cancel token. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_many_new(billcore_loop* loop, int32_t concurrency, bool ordered,
                                                    const billcore_call_options* call, billcore_many** out,
                                                    billcore_error** err);

/** Starts to wait until billcore_many_next has something to return: a result, an error, or that no read is left. The call
 * has no result, and its end says that the wait is over. Reads that are made on a loop can have one wait at a time;
 * they progress without one, and billcore_loop_cancel ends the wait only. They may be freed at any time; a wait still
 * has its end. The other arguments are those of billcore_loop_start.  @since 0.1 */
BILLCORE_API billcore_status billcore_loop_many_wait(billcore_loop* loop, billcore_many* many, billcore_done done,
                                                     void* context, billcore_release release, billcore_ticket* ticket,
                                                     billcore_error** err);

/** Asks the loop to cancel a call, and makes the descriptor readable. The next billcore_loop_process gives the call up
 * before it does anything else; the call then ends with BILLCORE_ERROR_INTERRUPTED, and billcore_error_outcome_unknown
 * of the failure says whether a write may have happened. A call that has ended by then has its own end; a ticket that
 * names no call is ignored. Threads: any, also while another thread is in the loop, until the loop is freed.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_loop_cancel(billcore_loop* loop, billcore_ticket ticket, billcore_error** err);

/** Takes the end of a call that was started without `done`, in the order in which the calls ended: *ticket, and *result
 * and *failure as billcore_done has them. BILLCORE_DONE when no end waits. The caller frees *result and *failure.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_loop_next(billcore_loop* loop, billcore_ticket* ticket, billcore_result** result,
                                                billcore_error** failure, billcore_error** err);

/** Number of calls that were started and whose ends have not been taken; 0 for NULL.  @since 0.1 */
BILLCORE_API size_t billcore_loop_running(const billcore_loop* loop);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_LOOP_H */
