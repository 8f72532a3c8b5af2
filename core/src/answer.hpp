// From what happened on the wire to a result or a typed error: the decision table. Pure; internal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "billcore/client.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "transport.hpp"

namespace billcore::detail {

/// What an error needs to know of the request it is about. The texts belong to the request.
struct RequestInfo {
  std::string_view method;
  std::string_view path;  // relative to the base URL, encoded, without query
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
  std::int64_t sent_at = 0;  // UTC microseconds
};

[[nodiscard]] ErrorCode code_of(Failure failure) noexcept;

/// Throws the error of an exchange that brought no complete answer; else gives the answer.
[[nodiscard]] Answer complete_answer(const RequestInfo& request, Transfer&& transfer);
/// Throws the typed error of every status but 2xx.
void require_success(const RequestInfo& request, const Answer& answer);
/// Of a successful answer `data`, an object. Throws what require_success() does; only the envelope is checked.
[[nodiscard]] Value read_resource(const RequestInfo& request, Answer&& answer);
/// The same for a list: the array `data` beside the object `pagination`.
[[nodiscard]] std::shared_ptr<const Document> read_list(const RequestInfo& request, Answer&& answer);

}  // namespace billcore::detail
