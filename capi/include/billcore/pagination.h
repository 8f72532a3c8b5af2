/** @file
 * The `pagination` object of a page: how many records and pages the list has. Conventions: billcore.h.
 *
 * @code{.c}
 * billcore_order_list* orders = NULL;
 * billcore_order_page* page = NULL;
 * billcore_pagination* pagination = NULL;
 * int64_t total = 0;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_subscription_orders_new(client, subscription_id, NULL, NULL, &orders, &err);
 * if (status == BILLCORE_OK) status = billcore_order_list_next_page(orders, &page, &err);
 * if (status == BILLCORE_OK) status = billcore_order_page_pagination(page, &pagination, &err);
 * if (status == BILLCORE_OK) status = billcore_pagination_total(pagination, &total, &err);
 * if (status == BILLCORE_OK) printf("%" PRId64 " orders\n", total);
 * billcore_pagination_free(pagination), billcore_order_page_free(page), billcore_order_list_free(orders);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_PAGINATION_H
#define BILLCORE_PAGINATION_H

#include "billcore/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The `pagination` object of a page. Freed with billcore_pagination_free. A text read from a handle is valid until
 * the handle is freed. Threads: immutable. Service interface: Pagination. */
typedef struct billcore_pagination billcore_pagination;

/** Frees the object; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_pagination_free(billcore_pagination* given) {
  billcore_resource_free(BILLCORE_CAST(billcore_resource*, given));
}

/** Number of records in the whole list. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_total(const billcore_pagination* given, int64_t* out,
                                                          billcore_error** err) {
  return billcore_resource_int64(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("total"), out, NULL, err);
}

/** Number of records on this page. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_count(const billcore_pagination* given, int64_t* out,
                                                          billcore_error** err) {
  return billcore_resource_int64(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("count"), out, NULL, err);
}

/** Number of records on a full page. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_per_page(const billcore_pagination* given, int64_t* out,
                                                             billcore_error** err) {
  return billcore_resource_int64(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("per_page"), out, NULL,
                                 err);
}

/** Number of this page, from 1. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_current_page(const billcore_pagination* given, int64_t* out,
                                                                 billcore_error** err) {
  return billcore_resource_int64(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("current_page"), out,
                                 NULL, err);
}

/** Number of pages. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_total_pages(const billcore_pagination* given, int64_t* out,
                                                                billcore_error** err) {
  return billcore_resource_int64(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("total_pages"), out, NULL,
                                 err);
}

/** `links.next` as received; the library never follows the link. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_links_next(const billcore_pagination* given, billcore_str* out,
                                                               bool* present, billcore_error** err) {
  return billcore_resource_text(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("/links/next?"), out,
                                present, err);
}

/** `links.previous` as received; the library never follows the link. Service interface: Pagination.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_links_previous(const billcore_pagination* given, billcore_str* out,
                                                                   bool* present, billcore_error** err) {
  return billcore_resource_text(BILLCORE_CAST(const billcore_resource*, given), BILLCORE_STR("/links/previous?"), out,
                                present, err);
}

/** The whole `pagination` object as a JSON value. The caller frees *out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_pagination_value(const billcore_pagination* given, billcore_value** out,
                                                          billcore_error** err) {
  return billcore_resource_value(BILLCORE_CAST(const billcore_resource*, given), out, err);
}

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_PAGINATION_H */
