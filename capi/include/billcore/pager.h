/** @file
 * Lists: the caller reads items or whole pages, and the list fetches pages as needed. Conventions: billcore.h.
 *
 * A list first requests only its first page. When the caller reads the second item, the list begins to prefetch pages.
 * The client's option concurrency limits the number of pages in flight. The library has no background thread: requests
 * make progress only while a function that reads the list runs. The time that the caller spends between two items does
 * not count towards the time-out. The message of an error names the page that failed ("GET /products?page=57: ...");
 * after an error the caller can continue to read.
 *
 * Records may be added or removed while the caller reads a list. The list remembers the ids on the last pages, and does
 * not return a record with one of these ids a second time. At the end, the list's `_verdict` function says whether a
 * record may have been missed. Items and pages may outlive their list. Besides the errors of every operation
 * (billcore/client.h), a function that reads a list returns BILLCORE_ERROR_PAGINATION when the service keeps sending
 * the same records, or sends a page that was not requested.
 *
 * Each kind of list has types and inline functions of its own, such as billcore_order_list_next in
 * billcore/order_list.h. The inline functions call the functions of this header, which work with every kind of list.
 * Bindings for other languages may call the functions of this header directly.
 *
 * @code{.c}
 * billcore_order_list* orders = NULL;
 * billcore_order* order = NULL;
 * int64_t cents;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_subscription_orders_new(client, subscription_id, NULL, NULL, &orders, &err);
 * while (status == BILLCORE_OK && (status = billcore_order_list_next(orders, &order, &err)) == BILLCORE_OK) {
 *   status = billcore_order_total(order, &cents, &err);
 *   if (status == BILLCORE_OK) printf("%" PRId64 " cents\n", cents);
 *   billcore_order_free(order);
 * }  // BILLCORE_DONE after the last one
 * billcore_order_list_free(orders);
 * billcore_error_free(err);
 * @endcode
 *
 * @code{.c}
 * billcore_product_list* products = NULL;
 * billcore_product* product = NULL;
 * billcore_buf state = {NULL, 0};
 * billcore_error* err = NULL;
 * billcore_status status = billcore_product_list_new(client, NULL, NULL, &products, &err);
 * if (status == BILLCORE_OK) status = billcore_product_list_next(products, &product, &err);
 * if (status == BILLCORE_OK) status = billcore_product_list_state(products, &state, &err);
 * if (status == BILLCORE_OK) printf("to continue after the first product: %s\n", state.data);
 * billcore_buf_free(&state);
 * billcore_product_free(product);
 * billcore_product_list_free(products);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_PAGER_H
#define BILLCORE_PAGER_H

#include "billcore/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A list. Freed with billcore_list_free. Threads: one thread at a time. */
typedef struct billcore_list billcore_list;

/** One page of a list. Freed with billcore_page_free. Threads: immutable. */
typedef struct billcore_page billcore_page;

/** Returns the next item, and fetches the next page if necessary. BILLCORE_DONE after the last item. After an error,
 * the next call requests the failed page again. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_next(billcore_list* list, billcore_resource** out, billcore_error** err);

/** Returns the next page, or the unread items of the current page if the caller has read only some of its items.
 * BILLCORE_DONE after the last page. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_next_page(billcore_list* list, billcore_page** out, billcore_error** err);

/** Returns the page that billcore_list_next_page would return, but does not advance the list: useful for a caller that
 * may stop in the middle of a page. BILLCORE_DONE after the last page. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_peek_page(billcore_list* list, billcore_page** out, billcore_error** err);

/** Marks the first `count` items of the page from billcore_list_peek_page as read. BILLCORE_ERROR_INVALID_ARGUMENT when
 * the page has fewer than `count` items.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_skip(billcore_list* list, size_t count, billcore_error** err);

/** Returns the list's first item without advancing the list; sends at most one request. BILLCORE_DONE when the list is
 * empty. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_first(billcore_list* list, billcore_resource** out, billcore_error** err);

/** The number of records in the whole list, as reported by the service in the page that was read last. *present is
 * false until a page has been read.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_total(const billcore_list* list, int64_t* out, bool* present,
                                                 billcore_error** err);

/** Writes the position of the list as text, called the state. Pass the state as the option resume to a later list, for
 * which the option page must not be set. The later list continues after the last item that `list` returned, even if
 * `list` then returned an error. This function sends no request. The state contains no secrets, but it contains the ids
 * of the last 18 pages (or of 2 * concurrency + 2 pages if that is more), at most 4096 ids: about 4 KB with 20 records
 * per page, 19 KB with 100, 39 KB with 200. The later list may return some records twice if a page has no `total`, or
 * if the number of records added in the meantime exceeds the number of ids in the state; in these cases the later
 * list's verdict is "may_repeat". The caller frees *out with billcore_buf_free.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_state(const billcore_list* list, billcore_buf* out, billcore_error** err);

/** Number of pages fetched so far.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_fetched_pages(const billcore_list* list, int64_t* out, billcore_error** err);

/** Writes to *complete whether the list returned every record that existed from the time of its first request to the
 * time of its last. *present is false until the last item has been read or the list has been stopped. *reason (reason
 * may be NULL) is the reason why a record may have been missed, one of the static texts "total_changed", "overlap",
 * "repeated_page", "list_shrank", "stopped", "total_differs", "undecodable_item", "no_total" and "may_repeat".
 * "no_total" means that a page had no readable `total`, so the library could not detect every change of the list; with
 * the option strict, the list reads all pages a second time and compares the two results. "may_repeat" replaces any
 * other reason: the list has grown by more records than its state contains ids. With "may_repeat", the list may have
 * missed records and returned others twice; drop duplicates by id. @since 0.1 */
BILLCORE_API billcore_status billcore_list_verdict(const billcore_list* list, bool* complete, billcore_str* reason,
                                                   bool* present, billcore_error** err);

/** Cancels prefetching and sets the verdict to "stopped"; does nothing at the end of the list. After billcore_list_stop
 * the caller can still read the list. A fetch of billcore_loop_fetch goes on, with its prefetch.  @since 0.1 */
BILLCORE_API billcore_status billcore_list_stop(billcore_list* list, billcore_error** err);

/** Frees a list; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_list_free(billcore_list* list);

/** Number of items on the page, not counting items that the list had already returned before this page.  @since 0.1 */
BILLCORE_API billcore_status billcore_page_count(const billcore_page* page, size_t* out, billcore_error** err);

/** Item `index` of the page, from 0; BILLCORE_ERROR_INVALID_ARGUMENT beyond the last item. The caller frees *out.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_page_at(const billcore_page* page, size_t index, billcore_resource** out,
                                              billcore_error** err);

/** The kind of value that a cell holds. Append-only. */
typedef int32_t billcore_cell_kind;
/** Values of a billcore_cell_kind. */
enum {
  BILLCORE_CELL_ABSENT = 0,
  BILLCORE_CELL_NULL = 1,
  BILLCORE_CELL_TEXT = 2,    /**< in text */
  BILLCORE_CELL_INTEGER = 3, /**< in number */
  BILLCORE_CELL_BOOLEAN = 4, /**< in number: 0 or 1 */
  BILLCORE_CELL_OTHER = 5    /**< any other JSON value: read it with the functions of a resource */
};

/** The value of one field of an item. Later versions of the library do not change this struct. */
typedef struct billcore_cell {
  billcore_str text;       /**< borrowed from the page: valid until the page is freed */
  int64_t number;          /**< value of a boolean, or of an integer that fits */
  billcore_cell_kind kind; /**< one of BILLCORE_CELL_* */
} billcore_cell;

/** Reads one field of all items of the page at once, for languages in which a call to C takes longer than reading a
 * field. `name` is a field's exact name, such as "total", without `?` or slashes. `cells` is an array that receives the
 * field's values in the order of the items; `room` is the array's length, at least billcore_page_count. The function
 * does not check the type of the field: each cell has the kind of the value received.  @since 0.1 */
BILLCORE_API billcore_status billcore_page_column(const billcore_page* page, billcore_str name, billcore_cell* cells,
                                                  size_t room, billcore_error** err);

/** The page's `pagination` object, as a resource with the fields "total", "count", "per_page", "current_page",
 * "total_pages", "/links/next?" and "/links/previous?" (links that the library does not use).
 * BILLCORE_ERROR_INVALID_ARGUMENT when `page` is the result of a search for charges, which has no `pagination`. The
 * caller frees *out. Service interface: Pagination.  @since 0.1 */
BILLCORE_API billcore_status billcore_page_numbers(const billcore_page* page, billcore_resource** out,
                                                   billcore_error** err);

/** Frees a page; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_page_free(billcore_page* page);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_PAGER_H */
