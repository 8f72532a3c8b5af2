// Operation: the description of a request, independent of the client that sends it. The service's operations are in
// operations.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/json.hpp"

namespace billcore {

/// A custom request to a path of the service.
struct RequestOptions {
  std::vector<std::pair<std::string, std::string>> query = {};  // query parameters, which the client encodes
  std::optional<std::string> json = {};                         // body: any JSON, sent without white space
  bool raise_on_error = true;                                   // false: return every complete answer, even 4xx or 5xx
};

/// Whether a method is a write: every method except GET. A write is sent at most once.
[[nodiscard]] constexpr bool is_write(std::string_view method) noexcept { return method != "GET"; }

/// One request to the service.
struct Operation {
  std::string method;
  std::string path;                                             // path relative to the base URL, encoded
  std::string_view route = {};                                  // the path with placeholders for ids; a static text
  std::vector<std::pair<std::string, std::string>> query = {};  // query parameters, not encoded yet
  std::optional<std::string> body = {};                         // JSON
  std::int64_t page = 0;                                        // page number of a list, for its errors; 0: not a list
  bool promises_json = true;                                    // false: the body of the answer is unspecified

  [[nodiscard]] bool is_write() const noexcept { return billcore::is_write(method); }
};

/// A list: one request per page.
struct ListOperation {
  std::string path;
  std::string_view route;
  std::vector<std::pair<std::string, std::string>> query = {};

  /// The request for page `number`, from 1.
  [[nodiscard]] Operation page(std::int64_t number) const;
};

namespace operations {

/// A custom request. `method` is GET, POST, PUT, PATCH or DELETE; `path` starts with a slash and is already encoded. An
/// unknown method or an invalid path gives Error(invalid_argument).
[[nodiscard]] Operation request(std::string_view method, std::string_view path, const RequestOptions& options);

namespace products {
/// The request that changes fields of a product. Throws Error(invalid_argument) if `fields` is empty.
[[nodiscard]] Operation update(std::int64_t id, const JsonObject& fields);
}  // namespace products

}  // namespace operations

}  // namespace billcore
