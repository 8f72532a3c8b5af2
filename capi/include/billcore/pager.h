/* Lists: read item by item or page by page, in order, fetched when needed. Conventions: billcore.h.
 *
 * The first page is fetched alone. From the second item on the following ones are on their way, too, as many as the
 * client's concurrency allows; they move on whenever the list is read, since no thread works for it, and a pause between
 * two items is no time-out. The message of an error names the page ("GET /products?page=57: ..."); after it the list can
 * be read on.
 *
 * Lists move while they are read: an id seen within the last pages is not given again, and `_verdict` says in the end
 * whether a record may have been missed. Items and pages may outlive their list. Besides what billcore/client.h says of
 * every operation, reading may return BILLCORE_PAGINATION, for a list that repeats itself or contradicts its own page
 * numbers. */
#ifndef BILLCORE_PAGER_H
#define BILLCORE_PAGER_H

#include "billcore/order.h"
#include "billcore/product.h"
#include "billcore/subscription.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what to list ---- */

/** Which subscriptions. Freed with billcore_subscription_query_free. Threads: one thread at a time while it is filled,
 * then immutable. */
typedef struct billcore_subscription_query billcore_subscription_query;

/** Nothing set yet: all. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_query_new(billcore_subscription_query** out, billcore_error** err);

/** Those with exactly this reference_id.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_query_set_reference_id(billcore_subscription_query* query,
                                                                          billcore_str reference_id,
                                                                          billcore_error** err);

/** Page to begin with, from 1, which is the default.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_query_set_page(billcore_subscription_query* query, int64_t page,
                                                                  billcore_error** err);

/** true: reads the list a second time, for what the first reading missed; the verdict is then of the second. Costs twice the
 * requests. Default: false.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_query_set_strict(billcore_subscription_query* query, bool strict,
                                                                    billcore_error** err);

/** Goes on from where a list of the same service and query stood: its billcore_subscription_list_state, perhaps
 * in a process before; the page set here is then of no account. Copied. What is no state of such a list (nor is an empty
 * text) is BILLCORE_INVALID_ARGUMENT when the list is made, and so is a state together with strict.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_query_set_resume(billcore_subscription_query* query,
                                                                    billcore_str state, billcore_error** err);

/** Frees a query; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_subscription_query_free(billcore_subscription_query* query);

/** Which orders. Freed with billcore_order_query_free. Threads: one thread at a time while it is filled, then
 * immutable. */
typedef struct billcore_order_query billcore_order_query;

/** Nothing set yet: all. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_new(billcore_order_query** out, billcore_error** err);

/** Orders in this state, one; several calls: in any of these.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_add_state(billcore_order_query* query, billcore_str state,
                                                            billcore_error** err);

/** Orders of this product.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_set_product_id(billcore_order_query* query, int64_t product_id,
                                                                 billcore_error** err);

/** Orders per page, 1 to 200; the service's default is 20.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_set_per_page(billcore_order_query* query, int64_t per_page,
                                                               billcore_error** err);

/** Page to begin with, from 1, which is the default.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_set_page(billcore_order_query* query, int64_t page,
                                                           billcore_error** err);

/** true: reads the list a second time, for what the first reading missed; the verdict is then of the second. Costs twice the
 * requests. Default: false.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_set_strict(billcore_order_query* query, bool strict,
                                                             billcore_error** err);

/** Goes on from where a list of the same service and query stood: its billcore_order_list_state, perhaps
 * in a process before; the page set here is then of no account. Copied. What is no state of such a list (nor is an empty
 * text) is BILLCORE_INVALID_ARGUMENT when the list is made, and so is a state together with strict.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_query_set_resume(billcore_order_query* query, billcore_str state,
                                                             billcore_error** err);

/** Frees a query; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_order_query_free(billcore_order_query* query);

/** Which products. Freed with billcore_product_query_free. Threads: one thread at a time while it is filled, then
 * immutable. */
typedef struct billcore_product_query billcore_product_query;

/** Nothing set yet: all. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_query_new(billcore_product_query** out, billcore_error** err);

/** Page to begin with, from 1, which is the default.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_query_set_page(billcore_product_query* query, int64_t page,
                                                             billcore_error** err);

/** true: reads the list a second time, for what the first reading missed; the verdict is then of the second. Costs twice the
 * requests. Default: false.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_query_set_strict(billcore_product_query* query, bool strict,
                                                               billcore_error** err);

/** Goes on from where a list of the same service and query stood: its billcore_product_list_state, perhaps
 * in a process before; the page set here is then of no account. Copied. What is no state of such a list (nor is an empty
 * text) is BILLCORE_INVALID_ARGUMENT when the list is made, and so is a state together with strict.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_query_set_resume(billcore_product_query* query, billcore_str state,
                                                               billcore_error** err);

/** Frees a query; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_product_query_free(billcore_product_query* query);

/* ---- the numbers of a page ---- */

/** The numbers of a page. Freed with billcore_pagination_free. Texts live as long as it. Threads: immutable.
 *  Service interface: Pagination. */
typedef struct billcore_pagination billcore_pagination;

/** Records in the whole list. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_total(const billcore_pagination* pagination, int64_t* out,
                                                       billcore_error** err);

/** Records on this page. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_count(const billcore_pagination* pagination, int64_t* out,
                                                       billcore_error** err);

/** Records a full page has. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_per_page(const billcore_pagination* pagination, int64_t* out,
                                                          billcore_error** err);

/** Number of this page, from 1. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_current_page(const billcore_pagination* pagination, int64_t* out,
                                                              billcore_error** err);

/** Number of pages. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_total_pages(const billcore_pagination* pagination, int64_t* out,
                                                             billcore_error** err);

/** `links.next` as received; it is never followed. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_links_next(const billcore_pagination* pagination, billcore_str* out,
                                                            bool* present, billcore_error** err);

/** `links.previous` as received; it is never followed. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_links_previous(const billcore_pagination* pagination,
                                                                billcore_str* out, bool* present, billcore_error** err);

/** All of it as plain JSON. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_pagination_value(const billcore_pagination* pagination, billcore_value** out,
                                                       billcore_error** err);

/** Frees a pagination; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_pagination_free(billcore_pagination* pagination);

/* ---- subscriptions ---- */

/** A list of subscriptions. Freed with billcore_subscription_list_free. Threads: one thread at a time. */
typedef struct billcore_subscription_list billcore_subscription_list;

/** One page of such a list. Freed with billcore_subscription_page_free. Threads: immutable. */
typedef struct billcore_subscription_page billcore_subscription_page;

/** The next subscription; fetches the next page when it must. BILLCORE_DONE behind the last one. After an error the
 * next call asks for the same page again. *out is new; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_next(billcore_subscription_list* list,
                                                             billcore_subscription** out, billcore_error** err);

/** The next page: first what is left of a page already begun. BILLCORE_DONE behind the last one. *out is new; free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_next_page(billcore_subscription_list* list,
                                                                  billcore_subscription_page** out,
                                                                  billcore_error** err);

/** The list's first subscription, without moving on: one request at most. BILLCORE_DONE when the list is empty. *out is
 * new; free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_first(billcore_subscription_list* list,
                                                              billcore_subscription** out, billcore_error** err);

/** The service's count of the whole list, from the page read last; not present before the first.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_total(const billcore_subscription_list* list, int64_t* out,
                                                              bool* present, billcore_error** err);

/** Where the list stands, for billcore_subscription_query_set_resume: behind the item given last, also after an
 * error. A short text without secrets; sends nothing. *out is new; free it with billcore_buf_free.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_state(const billcore_subscription_list* list, billcore_buf* out,
                                                              billcore_error** err);

/** How many pages were fetched.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_fetched_pages(const billcore_subscription_list* list,
                                                                      int64_t* out, billcore_error** err);

/** Was everything read that was there from start to end? Not present until the last page was read or the list was
 * stopped. reason (may be NULL): why a record may have been missed ("total_changed", "overlap", "repeated_page",
 * "list_shrank", "stopped", "total_differs", "undecodable_item"); lives for ever.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_verdict(const billcore_subscription_list* list, bool* complete,
                                                                billcore_str* reason, bool* present,
                                                                billcore_error** err);

/** Says that the rest is not wanted; does nothing at the end of the list. Reading on is possible.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_list_stop(billcore_subscription_list* list, billcore_error** err);

/** Frees a list; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_subscription_list_free(billcore_subscription_list* list);

/** Number of subscriptions on the page that were not given before.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_page_count(const billcore_subscription_page* page, size_t* count,
                                                              billcore_error** err);

/** Item `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_page_at(const billcore_subscription_page* page, size_t index,
                                                           billcore_subscription** out, billcore_error** err);

/** The page's numbers. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_page_pagination(const billcore_subscription_page* page,
                                                                   billcore_pagination** out, billcore_error** err);

/** Frees a page; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_subscription_page_free(billcore_subscription_page* page);

/* ---- orders ---- */

/** A list of orders. Freed with billcore_order_list_free. Threads: one thread at a time. */
typedef struct billcore_order_list billcore_order_list;

/** One page of such a list. Freed with billcore_order_page_free. Threads: immutable. */
typedef struct billcore_order_page billcore_order_page;

/** The next order; fetches the next page when it must. BILLCORE_DONE behind the last one. After an error the next call
 * asks for the same page again. *out is new; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_next(billcore_order_list* list, billcore_order** out,
                                                      billcore_error** err);

/** The next page: first what is left of a page already begun. BILLCORE_DONE behind the last one. *out is new; free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_next_page(billcore_order_list* list, billcore_order_page** out,
                                                           billcore_error** err);

/** The list's first order, without moving on: one request at most. BILLCORE_DONE when the list is empty. *out is new;
 * free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_first(billcore_order_list* list, billcore_order** out,
                                                       billcore_error** err);

/** The service's count of the whole list, from the page read last; not present before the first.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_total(const billcore_order_list* list, int64_t* out, bool* present,
                                                       billcore_error** err);

/** Where the list stands, for billcore_order_query_set_resume: behind the item given last, also after an
 * error. A short text without secrets; sends nothing. *out is new; free it with billcore_buf_free.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_state(const billcore_order_list* list, billcore_buf* out,
                                                       billcore_error** err);

/** How many pages were fetched.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_fetched_pages(const billcore_order_list* list, int64_t* out,
                                                               billcore_error** err);

/** Was everything read that was there from start to end? Not present until the last page was read or the list was
 * stopped. reason (may be NULL): why a record may have been missed ("total_changed", "overlap", "repeated_page",
 * "list_shrank", "stopped", "total_differs", "undecodable_item"); lives for ever.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_verdict(const billcore_order_list* list, bool* complete,
                                                         billcore_str* reason, bool* present, billcore_error** err);

/** Says that the rest is not wanted; does nothing at the end of the list. Reading on is possible.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_list_stop(billcore_order_list* list, billcore_error** err);

/** Frees a list; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_order_list_free(billcore_order_list* list);

/** Number of orders on the page that were not given before.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_page_count(const billcore_order_page* page, size_t* count,
                                                       billcore_error** err);

/** Item `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_page_at(const billcore_order_page* page, size_t index, billcore_order** out,
                                                    billcore_error** err);

/** The page's numbers. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_page_pagination(const billcore_order_page* page, billcore_pagination** out,
                                                            billcore_error** err);

/** Frees a page; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_order_page_free(billcore_order_page* page);

/* ---- products ---- */

/** A list of products. Freed with billcore_product_list_free. Threads: one thread at a time. */
typedef struct billcore_product_list billcore_product_list;

/** One page of such a list. Freed with billcore_product_page_free. Threads: immutable. */
typedef struct billcore_product_page billcore_product_page;

/** The next product; fetches the next page when it must. BILLCORE_DONE behind the last one. After an error the next
 * call asks for the same page again. *out is new; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_next(billcore_product_list* list, billcore_product** out,
                                                        billcore_error** err);

/** The next page: first what is left of a page already begun. BILLCORE_DONE behind the last one. *out is new; free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_next_page(billcore_product_list* list, billcore_product_page** out,
                                                             billcore_error** err);

/** The list's first product, without moving on: one request at most. BILLCORE_DONE when the list is empty. *out is new;
 * free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_first(billcore_product_list* list, billcore_product** out,
                                                         billcore_error** err);

/** The service's count of the whole list, from the page read last; not present before the first.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_total(const billcore_product_list* list, int64_t* out, bool* present,
                                                         billcore_error** err);

/** Where the list stands, for billcore_product_query_set_resume: behind the item given last, also after an
 * error. A short text without secrets; sends nothing. *out is new; free it with billcore_buf_free.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_state(const billcore_product_list* list, billcore_buf* out,
                                                         billcore_error** err);

/** How many pages were fetched.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_fetched_pages(const billcore_product_list* list, int64_t* out,
                                                                 billcore_error** err);

/** Was everything read that was there from start to end? Not present until the last page was read or the list was
 * stopped. reason (may be NULL): why a record may have been missed ("total_changed", "overlap", "repeated_page",
 * "list_shrank", "stopped", "total_differs", "undecodable_item"); lives for ever.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_verdict(const billcore_product_list* list, bool* complete,
                                                           billcore_str* reason, bool* present, billcore_error** err);

/** Says that the rest is not wanted; does nothing at the end of the list. Reading on is possible.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_list_stop(billcore_product_list* list, billcore_error** err);

/** Frees a list; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_product_list_free(billcore_product_list* list);

/** Number of products on the page that were not given before.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_page_count(const billcore_product_page* page, size_t* count,
                                                         billcore_error** err);

/** Item `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_page_at(const billcore_product_page* page, size_t index,
                                                      billcore_product** out, billcore_error** err);

/** The page's numbers. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_page_pagination(const billcore_product_page* page,
                                                              billcore_pagination** out, billcore_error** err);

/** Frees a page; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_product_page_free(billcore_product_page* page);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_PAGER_H */
