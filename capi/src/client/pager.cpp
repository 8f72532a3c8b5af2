// Lists and their pages.
#include "billcore/pager.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "billcore/detail/document.hpp"
#include "billcore/internal.hpp"
#include "client/handles.hpp"
#include "client/loop.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using namespace billcore::capi;
using billcore::detail::PageFlow;
namespace internal = billcore::internal;

namespace {

/// Puts the item into a new handle; returns BILLCORE_DONE if there is no item.
template <typename Item, typename Out>
billcore_status put_step(std::optional<Item> item, Out** out) {
  if (!item) return BILLCORE_DONE;
  put_new(out, *std::move(item));
  return BILLCORE_OK;
}
template <typename Out>
billcore_status put_step(std::optional<billcore::Value> item, Out** out) {
  return put_step(item ? std::optional(billcore::Resource(*std::move(item))) : std::nullopt, out);
}

PageFlow& flow_of(const billcore_list* list) { return *internal::Access::flow(handle(list).view); }

billcore_cell cell_of(const billcore::detail::Node* node) {
  using Kind = billcore::Value::Kind;
  billcore_cell out{borrow(""), 0, BILLCORE_CELL_OTHER};
  if (node == nullptr) {
    out.kind = BILLCORE_CELL_ABSENT;
    return out;
  }
  switch (billcore::detail::kind(node)) {
    case Kind::null:
      out.kind = BILLCORE_CELL_NULL;
      break;
    case Kind::string:
      out.kind = BILLCORE_CELL_TEXT;
      out.text = borrow(billcore::detail::text(node));
      break;
    case Kind::boolean:
      out.kind = BILLCORE_CELL_BOOLEAN;
      out.number = billcore::detail::boolean(node) ? 1 : 0;
      break;
    case Kind::integer:
      if (billcore::detail::int64(node, out.number)) out.kind = BILLCORE_CELL_INTEGER;
      break;
    case Kind::real:
    case Kind::array:
    case Kind::object:
      break;
  }
  return out;
}

}  // namespace

billcore_status billcore_list_next(billcore_list* list, billcore_resource** out, billcore_error** err) {
  return call(
      err, [&] { return put_step(flow_of(list).next_item(), out); }, out);
}

billcore_status billcore_list_next_page(billcore_list* list, billcore_page** out, billcore_error** err) {
  return call(
      err, [&] { return put_step(flow_of(list).next_page(), out); }, out);
}

billcore_status billcore_list_peek_page(billcore_list* list, billcore_page** out, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto rest = flow_of(list).peek_page();
        if (rest) put_new(out, *rest);
        return rest ? billcore_status{BILLCORE_OK} : billcore_status{BILLCORE_DONE};
      },
      out);
}

billcore_status billcore_list_skip(billcore_list* list, size_t count, billcore_error** err) {
  return call(err, [&] {
    auto& core = flow_of(list).core();
    if (count > core.left()) refuse("fewer items are left of the page: see billcore_page_count");
    core.skip_items(count);
  });
}

billcore_status billcore_list_first(billcore_list* list, billcore_resource** out, billcore_error** err) {
  return call(
      err, [&] { return put_step(flow_of(list).first_item(), out); }, out);
}

billcore_status billcore_list_total(const billcore_list* list, int64_t* out, bool* present, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto total = handle(list).view.total();
        if (!total) return;
        put(out, *total);
        *present = true;
      },
      out, present);
}

billcore_status billcore_list_state(const billcore_list* list, billcore_buf* out, billcore_error** err) {
  return call(
      err, [&] { put(out, handle(list).view.state()); }, out);
}

billcore_status billcore_list_fetched_pages(const billcore_list* list, int64_t* out, billcore_error** err) {
  return call(
      err, [&] { put(out, handle(list).view.fetched_pages()); }, out);
}

billcore_status billcore_list_verdict(const billcore_list* list, bool* complete, billcore_str* reason, bool* present,
                                      billcore_error** err) {
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

billcore_status billcore_list_stop(billcore_list* list, billcore_error** err) {
  return call(err, [&] {
    auto& self = handle(list);
    self.view.stop();
    if (self.on_loop != nullptr) self.on_loop->stop();
  });
}

void billcore_list_free(billcore_list* list) { delete list; }

billcore_status billcore_page_count(const billcore_page* page, size_t* out, billcore_error** err) {
  return call(
      err, [&] { *out = handle(page).items.size(); }, out);
}

billcore_status billcore_page_at(const billcore_page* page, size_t index, billcore_resource** out,
                                 billcore_error** err) {
  return call(
      err, [&] { put_new(out, item_at(handle(page).items, index)); }, out);
}

billcore_status billcore_page_column(const billcore_page* page, billcore_str name, billcore_cell* cells, size_t room,
                                     billcore_error** err) {
  return call(err, [&] {
    require_output(cells);
    if (room > PTRDIFF_MAX / sizeof *cells) refuse("room is more cells than any memory holds");
    std::memset(cells, 0, room * sizeof *cells);
    const auto& items = handle(page).items;
    const auto field = view(name);
    if (room < items.size()) refuse("there is room for fewer cells than the page has items: see billcore_page_count");
    std::transform(items.begin(), items.end(), cells, [&](const billcore::Resource& item) {
      return cell_of(item.value().document()->member(item.value().node(), field));
    });
  });
}

billcore_status billcore_page_numbers(const billcore_page* page, billcore_resource** out, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto& numbers = handle(page).numbers;
        if (!numbers) refuse("these orders come from a search: they have no page numbers");
        put_new(out, *numbers);
      },
      out);
}

void billcore_page_free(billcore_page* page) { delete page; }
