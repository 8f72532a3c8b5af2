// Makes lists, and refuses query options that a list does not have.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "client/handles.hpp"
#include "shared/guard.hpp"

namespace billcore::capi {

template <typename T>
billcore_list* make_list(Pager<T> pager) {
  return new billcore_list(std::move(pager));
}

/// Makes a list, and casts it to the handle type that the C header declares for the list.
template <typename Face, typename Read>
billcore_status new_list(const billcore_client* client, Read read, Face** out, billcore_error** err) noexcept {
  return call(
      err, [&] { *out = reinterpret_cast<Face*>(make_list(read(handle(client).view))); }, out);
}

template <typename T>
[[nodiscard]] bool is_set(const std::optional<T>& value) noexcept {
  return value.has_value();
}
template <typename T>
[[nodiscard]] bool is_set(const std::vector<T>& value) noexcept {
  return !value.empty();
}

template <typename T>
void refuse_setting(const char* setting, const char* list, const T& value) {
  if (is_set(value)) refuse(std::string("a list of ") + list + " has no " + setting + ": leave it out of the query");
}

}  // namespace billcore::capi
