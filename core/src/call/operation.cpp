// Builds the requests of the operations that are written by hand, and the page requests of lists.
#include "billcore/operation.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "call/request_parts.hpp"
#include "call/routes.hpp"
#include "http/url.hpp"

namespace billcore {
namespace {

namespace routes = detail::routes;

// The route that a custom path matches; empty if the path is not part of the service interface.
std::string_view route_of(std::string_view path) noexcept {
  for (const auto route : routes::all) {
    const auto at = route.find(detail::request_parts::placeholder);
    if (at == std::string_view::npos) {
      if (path == route) return route;
      continue;
    }
    const auto before = route.substr(0, at);
    const auto behind = route.substr(at + detail::request_parts::placeholder.size());
    if (path.size() <= before.size() + behind.size() || !path.starts_with(before) || !path.ends_with(behind)) continue;
    const auto id = path.substr(at, path.size() - before.size() - behind.size());
    if (id.find('/') == std::string_view::npos) return route;
  }
  return {};
}

}  // namespace

Operation ListOperation::page(std::int64_t number) const {
  Operation out{"GET", path, route, {{"page", std::to_string(number)}}, {}, number};
  out.query.insert(out.query.end(), query.begin(), query.end());
  return out;
}

namespace operations {

namespace products {

Operation update(std::int64_t id, const JsonObject& fields) {
  if (fields.empty()) {
    throw Error(ErrorCode::invalid_argument, "the update has no fields: pass at least one field to change");
  }
  return {"POST", detail::request_parts::fill(routes::product, id), routes::product, {}, fields.dump()};
}

}  // namespace products

Operation request(std::string_view method, std::string_view path, const RequestOptions& options) {
  static constexpr std::array<std::string_view, 5> methods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    throw Error(ErrorCode::invalid_argument, "method must be GET, POST, PUT, PATCH or DELETE");
  }
  const bool printable = std::all_of(path.begin(), path.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (!path.starts_with('/') || !printable || path.find_first_of("?#") != std::string_view::npos) {
    throw Error(ErrorCode::invalid_argument,
                "path must begin with a slash, be percent-encoded, and have no query: pass that as query");
  }
  if (detail::has_dot_segment(path)) {
    throw Error(ErrorCode::invalid_argument, "path must not contain the segments `.` or `..`");
  }
  Operation out{std::string(method), std::string(path), route_of(path), options.query, {}};
  out.promises_json = false;
  if (options.json) {
    if (method == "GET") throw Error(ErrorCode::invalid_argument, "a GET has no body: do not pass json");
    std::string problem;
    out.body = detail::compact_json(*options.json, problem);
    if (!out.body) throw Error(ErrorCode::invalid_argument, "json is not valid JSON: " + problem);
  }
  return out;
}

}  // namespace operations

}  // namespace billcore
