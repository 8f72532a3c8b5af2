// From what happened on the wire to a result or a typed error: the decision table. Pure; internal.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "billcore/client.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "transport.hpp"

namespace billcore::detail {

/// What an error needs to know of the request it is about.
struct RequestInfo {
  std::string method;
  std::string path;  // relative to the base URL, encoded, without query
  std::string_view api_key;
  std::string_view request_id_header;
  std::string_view base_url;
  int attempts = 1;  // made so far, this one included

  [[nodiscard]] bool is_write() const noexcept { return method != "GET"; }
};

/// A complete answer, of whatever status.
struct Answer {
  std::shared_ptr<const ResponseInfo> info;
  std::string body;
  std::int64_t sent_at = 0;                                   // UTC microseconds
  std::optional<std::chrono::milliseconds> retry_after = {};  // what it asks for
};

/// Throws the error of an exchange that brought no complete answer; else gives the answer.
[[nodiscard]] Answer complete_answer(const RequestInfo& request, Transfer&& transfer);
/// Throws the typed error of every status but 2xx.
void require_success(const RequestInfo& request, const Answer& answer);
/// Parses a successful answer and checks the envelope only: `data` an object, or (list) an array beside an object
/// `pagination`.
[[nodiscard]] std::shared_ptr<const Document> parse_resource(const RequestInfo& request, Answer&& answer);
[[nodiscard]] std::shared_ptr<const Document> parse_list(const RequestInfo& request, Answer&& answer);

}  // namespace billcore::detail
