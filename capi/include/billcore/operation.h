/** @file
 * An operation as a value: its name, its arguments by their names, and the ways to run it. Conventions: billcore.h.
 *
 * The functions of billcore/operations.h, such as billcore_subscription_charge, are inline wrappers of the functions of
 * this header. Use this header in a binding for another language, or where the name of the operation is data. The names
 * are those of the Python methods, such as "subscriptions.charge" and "orders.get", and so are the names of the
 * arguments; besides, "products.update" takes any field of a product, and "request" takes method, path, json and
 * raise_on_error, and query parameters by billcore_operation_add.
 *
 * @code{.c}
 * billcore_operation* operation = NULL;
 * billcore_result* result = NULL;
 * billcore_order* order = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_operation_new(BILLCORE_STR("orders.get"), &operation, &err);
 * if (status == BILLCORE_OK) status = billcore_operation_set_text(operation, BILLCORE_STR("id"), order_id, &err);
 * if (status == BILLCORE_OK) status = billcore_client_perform(client, operation, NULL, &result, &err);
 * if (status == BILLCORE_OK) status = billcore_result_take_order(&result, &order, &err);
 * billcore_order_free(order);
 * billcore_result_free(result);
 * billcore_operation_free(operation);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_OPERATION_H
#define BILLCORE_OPERATION_H

#include "billcore/call_options.h"
#include "billcore/client_handle.h"
#include "billcore/options.h"
#include "billcore/pager.h"
#include "billcore/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An operation with its arguments. Its first use freezes it. A write can be used once: a second use gives
 * BILLCORE_ERROR_INVALID_ARGUMENT, because it would send the write twice; make a new operation. A read can be used any
 * number of times, with any clients. After fork(), only one of the two processes may use a write that was not used
 * before: each has a copy. Freed with billcore_operation_free. Threads: one thread at a time until the first use, then
 * shared. */
typedef struct billcore_operation billcore_operation;

/** Makes an operation without arguments. BILLCORE_ERROR_INVALID_ARGUMENT when no operation has this name. The caller
 * frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_new(billcore_str name, billcore_operation** out, billcore_error** err);

/** Frees the operation; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_operation_free(billcore_operation* operation);

/** Sets an argument whose value is a text, which is copied. In this function and the next ones,
 * BILLCORE_ERROR_INVALID_ARGUMENT when the operation has no argument with this name, when the argument has another
 * type, or when the operation was used.  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_set_text(billcore_operation* operation, billcore_str name,
                                                         billcore_str value, billcore_error** err);

/** Sets an argument whose value is an integer, or an id that the service sent as an integer.  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_set_int64(billcore_operation* operation, billcore_str name,
                                                          int64_t value, billcore_error** err);

/** Sets an argument that is true or false: strict of a list, raise_on_error of a request.  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_set_bool(billcore_operation* operation, billcore_str name, bool value,
                                                         billcore_error** err);

/** Sets a field of "products.update", or the json of "request", to JSON text, which is copied. Numbers are sent with
 * the digits given.  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_set_json(billcore_operation* operation, billcore_str name,
                                                         billcore_str json, billcore_error** err);

/** Sets a field of "products.update" to null. No other argument can be null: leave it out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_operation_set_null(billcore_operation* operation, billcore_str name,
                                                            billcore_error** err) {
  return billcore_operation_set_json(operation, name, BILLCORE_STR("null"), err);
}

/** Adds a copy of a text to an argument that takes several: state of a list of orders.  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_add_text(billcore_operation* operation, billcore_str name,
                                                         billcore_str value, billcore_error** err);

/** Adds a copy of the pair `key` and `value` to the argument `name`: query of "request".  @since 0.1 */
BILLCORE_API billcore_status billcore_operation_add(billcore_operation* operation, billcore_str name, billcore_str key,
                                                    billcore_str value, billcore_error** err);

/** Sets the arguments that the options have: those of a charge, a list, a product or a request. options may be NULL.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_operation_set_options(billcore_operation* operation,
                                                            const billcore_options* options, billcore_error** err);

/** What an operation returns: BILLCORE_RESULT_NONE, BILLCORE_RESULT_RESPONSE, or a kind of resource, whose values
 * billcore/operations.h has. Append-only. */
typedef int32_t billcore_result_kind;
/** Values of a billcore_result_kind that are no resource. */
enum {
  BILLCORE_RESULT_NONE = 0, /**< billcore_client_perform sets its output to NULL */
  BILLCORE_RESULT_RESPONSE = 1,
  BILLCORE_RESULT_PAGE = 1000 /**< of a search for charges on a loop (billcore/loop.h) */
};

/** The result of an operation. Take what it has, with the function of its kind, or free it with billcore_result_free.
 * Threads: one thread at a time. */
typedef struct billcore_result billcore_result;

/** Sends the operation and waits for its result, with the errors that billcore/client.h names. A missing argument, an
 * operation that is a list, and a write that was used give BILLCORE_ERROR_INVALID_ARGUMENT; nothing is sent then. call
 * may be NULL. The caller frees *out, or takes what it has.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_perform(const billcore_client* client, billcore_operation* operation,
                                                     const billcore_call_options* call, billcore_result** out,
                                                     billcore_error** err);

/** Makes a list of an operation such as "subscriptions.orders". Sends no request; the functions that read the list do.
 * call may be NULL. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_list(const billcore_client* client, billcore_operation* operation,
                                                  const billcore_call_options* call, billcore_list** out,
                                                  billcore_error** err);

/** Frees the result; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_result_free(billcore_result* result);

/** The kind of a result; BILLCORE_RESULT_NONE for NULL.  @since 0.1 */
BILLCORE_API billcore_result_kind billcore_result_kind_of(const billcore_result* result);

/** Takes the resource of a result of this kind, and sets *result to NULL. BILLCORE_ERROR_INVALID_ARGUMENT, and the
 * result stays as it is, when it is of another kind. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_result_take_resource(billcore_result** result, billcore_result_kind kind,
                                                           billcore_resource** out, billcore_error** err);

/** Takes the answer of an operation whose answer the service interface does not specify, as
 * billcore_result_take_resource.  @since 0.1 */
BILLCORE_API billcore_status billcore_result_take_response(billcore_result** result, billcore_response** out,
                                                           billcore_error** err);

/** Takes the page of a search for charges, as billcore_result_take_resource.  @since 0.1 */
BILLCORE_API billcore_status billcore_result_take_page(billcore_result** result, billcore_page** out,
                                                       billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_OPERATION_H */
