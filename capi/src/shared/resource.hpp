// What every resource offers besides its fields, once for all of them.
#pragma once

#include <utility>

#include "billcore/resource.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

namespace billcore::capi {

template <typename Handle>
billcore_status get_value(const Handle* self, billcore_value** out, billcore_error** err) noexcept {
  return get_new(
      self, [](const auto& view) -> const Value& { return view.value(); }, out, err);
}

template <typename Handle>
billcore_status get_field(const Handle* self, billcore_str field, billcore_value** out, bool* present,
                          billcore_error** err) noexcept {
  return get_new(
      self, [&](const Resource& resource) { return resource.find(view(field)); }, out, present, err);
}

template <typename Handle>
billcore_status get_contains(const Handle* self, billcore_str field, bool* out, billcore_error** err) noexcept {
  return get(
      self, [&](const Resource& resource) { return resource.contains(view(field)); }, out, err);
}

template <typename Handle>
billcore_status get_equal(const Handle* self, const Handle* other, bool* out, billcore_error** err) noexcept {
  return get(
      self, [&](const Resource& resource) { return resource == handle(other).view; }, out, err);
}

template <typename Handle>
billcore_status get_info(const Handle* self, billcore_response_info** out, bool* present,
                         billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        const auto& info = handle(self).view.response_info();
        if (info == nullptr) return;
        put_new(out, info);
        *present = true;
      },
      out, present);
}

template <typename Handle>
billcore_status get_copy(const Handle* self, Handle** out, billcore_error** err) noexcept {
  return get_new(
      self, [](const auto& view) { return view.copy(); }, out, err);
}

/// Custom field `index` of a subscription or an order.
template <typename Handle>
billcore_status get_custom_field(const Handle* self, std::size_t index, billcore_custom_field** out,
                                 billcore_error** err) noexcept {
  return get_new(
      self, [&](const auto& view) { return item_at(view.custom_fields(), index); }, out, err);
}

}  // namespace billcore::capi
