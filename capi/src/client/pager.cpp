// Lists, their pages, and the numbers of a page.
#include "billcore/pager.h"

#include "client/handles.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using billcore::Pagination;
using namespace billcore::capi;

namespace {

/// One step of an iteration: a new handle of what came, or the end.
template <typename List, typename Read, typename Out>
billcore_status step(List* list, Read read, Out** out, billcore_error** err) noexcept {
  return call(
      err,
      [&]() -> billcore_status {
        auto item = std::invoke(read, handle(list).view);
        if (!item) return BILLCORE_DONE;
        put_new(out, *std::move(item));
        return BILLCORE_OK;
      },
      out);
}

template <typename List>
billcore_status get_verdict(const List* list, bool* complete, billcore_str* reason, bool* present,
                            billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        const auto verdict = handle(list).view.verdict();
        if (!verdict) return;
        *complete = verdict->complete;
        if (reason != nullptr) put(reason, verdict->reason);
        *present = true;
      },
      complete, Maybe<billcore_str>{reason}, present);
}

template <typename List>
billcore_status get_state(const List* list, billcore_buf* out, billcore_error** err) noexcept {
  return call(
      err, [&] { put(out, handle(list).view.state()); }, out);
}

template <typename List>
billcore_status stop(List* list, billcore_error** err) noexcept {
  return call(err, [&] { handle(list).view.stop(); });
}

template <typename Page, typename Out>
billcore_status get_item(const Page* page, std::size_t index, Out** out, billcore_error** err) noexcept {
  return call(
      err, [&] { put_new(out, item_at(handle(page).items, index)); }, out);
}

template <typename Page>
billcore_status count(const Page* page, std::size_t* out, billcore_error** err) noexcept {
  return call(
      err, [&] { *out = handle(page).items.size(); }, out);
}

using SubscriptionPager = billcore::Pager<billcore::Subscription>;
using OrderPager = billcore::Pager<billcore::Order>;
using ProductPager = billcore::Pager<billcore::Product>;

}  // namespace

billcore_status billcore_pagination_total(const billcore_pagination* pagination, int64_t* out, billcore_error** err) {
  return get(pagination, &Pagination::total, out, err);
}

billcore_status billcore_pagination_count(const billcore_pagination* pagination, int64_t* out, billcore_error** err) {
  return get(pagination, &Pagination::count, out, err);
}

billcore_status billcore_pagination_per_page(const billcore_pagination* pagination, int64_t* out,
                                             billcore_error** err) {
  return get(pagination, &Pagination::per_page, out, err);
}

billcore_status billcore_pagination_current_page(const billcore_pagination* pagination, int64_t* out,
                                                 billcore_error** err) {
  return get(pagination, &Pagination::current_page, out, err);
}

billcore_status billcore_pagination_total_pages(const billcore_pagination* pagination, int64_t* out,
                                                billcore_error** err) {
  return get(pagination, &Pagination::total_pages, out, err);
}

billcore_status billcore_pagination_links_next(const billcore_pagination* pagination, billcore_str* out, bool* present,
                                               billcore_error** err) {
  return get(
      pagination, [](const Pagination& view) { return view.links().next(); }, out, present, err);
}

billcore_status billcore_pagination_links_previous(const billcore_pagination* pagination, billcore_str* out,
                                                   bool* present, billcore_error** err) {
  return get(
      pagination, [](const Pagination& view) { return view.links().previous(); }, out, present, err);
}

billcore_status billcore_pagination_value(const billcore_pagination* pagination, billcore_value** out,
                                          billcore_error** err) {
  return get_new(
      pagination, [](const auto& view) -> const billcore::Value& { return view.value(); }, out, err);
}

void billcore_pagination_free(billcore_pagination* pagination) { delete pagination; }

billcore_status billcore_subscription_list_next(billcore_subscription_list* list, billcore_subscription** out,
                                                billcore_error** err) {
  return step(list, &SubscriptionPager::next, out, err);
}

billcore_status billcore_subscription_list_next_page(billcore_subscription_list* list, billcore_subscription_page** out,
                                                     billcore_error** err) {
  return step(list, &SubscriptionPager::next_page, out, err);
}

billcore_status billcore_subscription_list_first(billcore_subscription_list* list, billcore_subscription** out,
                                                 billcore_error** err) {
  return step(list, &SubscriptionPager::first, out, err);
}

billcore_status billcore_subscription_list_total(const billcore_subscription_list* list, int64_t* out, bool* present,
                                                 billcore_error** err) {
  return get(list, &SubscriptionPager::total, out, present, err);
}

billcore_status billcore_subscription_list_state(const billcore_subscription_list* list, billcore_buf* out,
                                                 billcore_error** err) {
  return get_state(list, out, err);
}

billcore_status billcore_subscription_list_fetched_pages(const billcore_subscription_list* list, int64_t* out,
                                                         billcore_error** err) {
  return get(list, &SubscriptionPager::fetched_pages, out, err);
}

billcore_status billcore_subscription_list_verdict(const billcore_subscription_list* list, bool* complete,
                                                   billcore_str* reason, bool* present, billcore_error** err) {
  return get_verdict(list, complete, reason, present, err);
}

billcore_status billcore_subscription_list_stop(billcore_subscription_list* list, billcore_error** err) {
  return stop(list, err);
}

void billcore_subscription_list_free(billcore_subscription_list* list) { delete list; }

billcore_status billcore_subscription_page_count(const billcore_subscription_page* page, size_t* out,
                                                 billcore_error** err) {
  return count(page, out, err);
}

billcore_status billcore_subscription_page_at(const billcore_subscription_page* page, size_t index,
                                              billcore_subscription** out, billcore_error** err) {
  return get_item(page, index, out, err);
}

billcore_status billcore_subscription_page_pagination(const billcore_subscription_page* page, billcore_pagination** out,
                                                      billcore_error** err) {
  return get_new(
      page, [](const auto& view) { return view.pagination(); }, out, err);
}

void billcore_subscription_page_free(billcore_subscription_page* page) { delete page; }

billcore_status billcore_order_list_next(billcore_order_list* list, billcore_order** out, billcore_error** err) {
  return step(list, &OrderPager::next, out, err);
}

billcore_status billcore_order_list_next_page(billcore_order_list* list, billcore_order_page** out,
                                              billcore_error** err) {
  return step(list, &OrderPager::next_page, out, err);
}

billcore_status billcore_order_list_first(billcore_order_list* list, billcore_order** out, billcore_error** err) {
  return step(list, &OrderPager::first, out, err);
}

billcore_status billcore_order_list_total(const billcore_order_list* list, int64_t* out, bool* present,
                                          billcore_error** err) {
  return get(list, &OrderPager::total, out, present, err);
}

billcore_status billcore_order_list_state(const billcore_order_list* list, billcore_buf* out, billcore_error** err) {
  return get_state(list, out, err);
}

billcore_status billcore_order_list_fetched_pages(const billcore_order_list* list, int64_t* out, billcore_error** err) {
  return get(list, &OrderPager::fetched_pages, out, err);
}

billcore_status billcore_order_list_verdict(const billcore_order_list* list, bool* complete, billcore_str* reason,
                                            bool* present, billcore_error** err) {
  return get_verdict(list, complete, reason, present, err);
}

billcore_status billcore_order_list_stop(billcore_order_list* list, billcore_error** err) { return stop(list, err); }

void billcore_order_list_free(billcore_order_list* list) { delete list; }

billcore_status billcore_order_page_count(const billcore_order_page* page, size_t* out, billcore_error** err) {
  return count(page, out, err);
}

billcore_status billcore_order_page_at(const billcore_order_page* page, size_t index, billcore_order** out,
                                       billcore_error** err) {
  return get_item(page, index, out, err);
}

billcore_status billcore_order_page_pagination(const billcore_order_page* page, billcore_pagination** out,
                                               billcore_error** err) {
  return get_new(
      page, [](const auto& view) { return view.pagination(); }, out, err);
}

void billcore_order_page_free(billcore_order_page* page) { delete page; }

billcore_status billcore_product_list_next(billcore_product_list* list, billcore_product** out, billcore_error** err) {
  return step(list, &ProductPager::next, out, err);
}

billcore_status billcore_product_list_next_page(billcore_product_list* list, billcore_product_page** out,
                                                billcore_error** err) {
  return step(list, &ProductPager::next_page, out, err);
}

billcore_status billcore_product_list_first(billcore_product_list* list, billcore_product** out, billcore_error** err) {
  return step(list, &ProductPager::first, out, err);
}

billcore_status billcore_product_list_total(const billcore_product_list* list, int64_t* out, bool* present,
                                            billcore_error** err) {
  return get(list, &ProductPager::total, out, present, err);
}

billcore_status billcore_product_list_state(const billcore_product_list* list, billcore_buf* out,
                                            billcore_error** err) {
  return get_state(list, out, err);
}

billcore_status billcore_product_list_fetched_pages(const billcore_product_list* list, int64_t* out,
                                                    billcore_error** err) {
  return get(list, &ProductPager::fetched_pages, out, err);
}

billcore_status billcore_product_list_verdict(const billcore_product_list* list, bool* complete, billcore_str* reason,
                                              bool* present, billcore_error** err) {
  return get_verdict(list, complete, reason, present, err);
}

billcore_status billcore_product_list_stop(billcore_product_list* list, billcore_error** err) {
  return stop(list, err);
}

void billcore_product_list_free(billcore_product_list* list) { delete list; }

billcore_status billcore_product_page_count(const billcore_product_page* page, size_t* out, billcore_error** err) {
  return count(page, out, err);
}

billcore_status billcore_product_page_at(const billcore_product_page* page, size_t index, billcore_product** out,
                                         billcore_error** err) {
  return get_item(page, index, out, err);
}

billcore_status billcore_product_page_pagination(const billcore_product_page* page, billcore_pagination** out,
                                                 billcore_error** err) {
  return get_new(
      page, [](const auto& view) { return view.pagination(); }, out, err);
}

void billcore_product_page_free(billcore_product_page* page) { delete page; }
