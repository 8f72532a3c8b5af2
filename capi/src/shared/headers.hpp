// Access to the header fields of an answer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/convert.hpp"

namespace billcore::capi {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The value of the first field with the name `name`; upper and lower case do not matter. The names in `headers` are in
/// lower case.
inline std::optional<std::string_view> find_header(const Headers& headers, std::string_view name) {
  std::string wanted(name);
  for (char& c : wanted) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [field, value] : headers) {
    if (field == wanted) return value;
  }
  return std::nullopt;
}

template <typename Handle, typename Read>
billcore_status get_header(const Handle* self, Read read, billcore_str name, billcore_str* out, bool* present,
                           billcore_error** err) noexcept {
  return get(
      self, [&](const auto& from) { return find_header(std::invoke(read, from), view(name)); }, out, present, err);
}

template <typename Handle, typename Read>
billcore_status get_header_at(const Handle* self, Read read, std::size_t index, billcore_str* name, billcore_str* value,
                              billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        const auto& field = item_at(std::invoke(read, handle(self).view), index);
        put(name, field.first);
        put(value, field.second);
      },
      name, value);
}

}  // namespace billcore::capi
