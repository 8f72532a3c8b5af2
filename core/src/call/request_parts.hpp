// Builds the path, query and body of a request from an operation's arguments, for the generated operations.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/values.hpp"
#include "http/url.hpp"

namespace billcore::detail::request_parts {

inline constexpr std::string_view placeholder = "{id}";

/// The path of a route with `segment` in place of the id.
inline std::string fill_in(std::string_view route, std::string_view segment) {
  const auto at = route.find(placeholder);
  std::string path;
  path.reserve(route.size() - placeholder.size() + segment.size());
  return path.append(route.substr(0, at)).append(segment).append(route.substr(at + placeholder.size()));
}
inline std::string fill(std::string_view route, const Id& id) { return fill_in(route, path_segment(id)); }
inline std::string fill(std::string_view route, std::int64_t id) { return fill_in(route, std::to_string(id)); }

// Each of these overloads of add() appends a parameter to a query if the value is set.

using Query = std::vector<std::pair<std::string, std::string>>;

inline void add(Query& to, const char* name, const std::optional<std::string>& value) {
  if (value) to.emplace_back(name, *value);
}
inline void add(Query& to, const char* name, std::optional<std::int64_t> value) {
  if (value) to.emplace_back(name, std::to_string(*value));
}
/// Joins the values with commas; the service then returns the records that match any of them. Service interface:
/// Endpoints, Subscriptions.
inline void add(Query& to, const char* name, const std::vector<std::string>& values) {
  std::string joined;
  for (const auto& value : values) {
    if (value.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "state is empty: pass a state, or leave it out for orders in every state");
    }
    if (value.find(',') != std::string::npos) {
      throw Error(ErrorCode::invalid_argument,
                  "state contains a comma: pass several states one by one (one item of OrderQuery::states each, in C "
                  "one call of billcore_order_query_add_state each)");
    }
    if (!joined.empty()) joined += ',';
    joined += value;
  }
  if (!values.empty()) to.emplace_back(name, std::move(joined));
}

// Each of these overloads of add() sets a field of a JSON body if the value is set.

template <typename T>
void add(JsonObject& to, const char* name, const T& value) {
  to.set(name, value);
}
template <typename T>
void add(JsonObject& to, const char* name, const std::optional<T>& value) {
  if (value) to.set(name, *value);
}

// Argument checks; each throws Error(invalid_argument) if the argument is invalid.

inline void require_between(const char* name, std::optional<std::int64_t> value, std::int64_t least,
                            std::int64_t most) {
  if (!value || (*value >= least && *value <= most)) return;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " is " + std::to_string(*value) + ": it must be from " +
                                               std::to_string(least) + " to " + std::to_string(most));
}

inline void require_printable(const char* name, std::string_view value) {
  if (std::none_of(value.begin(), value.end(), is_control)) return;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " contains a line end or another control character");
}

}  // namespace billcore::detail::request_parts
