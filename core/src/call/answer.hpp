// From what happened on the wire to a result or a typed error: the decision table. Pure; internal.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "billcore/operation.hpp"
#include "billcore/resource.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// What answers are read by; outlives the client in the answers that it has given.
struct AnswerSettings : std::enable_shared_from_this<AnswerSettings> {
  AnswerSettings(std::string key, std::string header) : api_key(std::move(key)), request_id_header(std::move(header)) {}
  const std::string api_key;
  const std::string request_id_header;  // in lower case
  /// Of a write that was sent, when memory runs out for an error that says more. Made with the client, for then there is none.
  const Error no_memory_after_send = make_no_memory_after_send();

 private:
  static Error make_no_memory_after_send();
};

/// What an error needs to know of the request it is about. All of it belongs to others.
struct RequestInfo {
  std::string_view method;
  std::string_view path;  // relative to the base URL, encoded, without query
  const AnswerSettings& settings;
  int attempts = 1;       // made so far, this one included
  std::int64_t page = 0;  // of a list; 0: none

  [[nodiscard]] bool is_write() const noexcept { return billcore::is_write(method); }
};

/// The header lines as they came; parsed and scrubbed when somebody asks.
class ReceivedInfo final : public ResponseInfo {
 public:
  ReceivedInfo(int status, int attempts, std::string head, std::shared_ptr<const AnswerSettings> settings) noexcept
      : ResponseInfo(status, attempts), head_(std::move(head)), settings_(std::move(settings)) {}
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& headers() const override;
  [[nodiscard]] const std::string& request_id() const override;
  [[nodiscard]] std::string_view head() const noexcept { return head_; }

 private:
  void parse() const;

  std::string head_;
  std::shared_ptr<const AnswerSettings> settings_;
  mutable std::once_flag parsed_;
  mutable std::vector<std::pair<std::string, std::string>> headers_;
  mutable std::string request_id_;
};

/// A complete answer, of whatever status.
struct Answer {
  std::shared_ptr<const ReceivedInfo> info;
  std::string body;
  Instant sent_at;
};

/// How the messages of a request's errors begin: "GET /order/1 (attempt 2): "; of a list's "GET /products?page=57: ", with no
/// other parameter, since those may be secret.
[[nodiscard]] std::string subject(const RequestInfo& request);
[[nodiscard]] std::string subject_of_page(std::string_view path, std::int64_t page, int attempts);
/// What all of its errors tell.
[[nodiscard]] ErrorDetail detail_of(const RequestInfo& request);

/// Of a write that was sent, when memory ran out before its answer was read: never std::bad_alloc. status: of an answer that
/// has come, else 0.
[[noreturn]] void throw_no_memory_after_send(const RequestInfo& request, int status, Instant sent_at);
/// Throws the error of a call that brought no complete answer; else gives the answer.
[[nodiscard]] Answer complete_answer(const RequestInfo& request, Transfer&& transfer);
/// Throws the typed error of every status but 2xx.
void require_success(const RequestInfo& request, const Answer& answer);
/// Of a successful answer `data`, an object. Throws what require_success() does; only the envelope is checked.
[[nodiscard]] Value read_resource(const RequestInfo& request, Answer&& answer);
/// The same for a list: the array `data` beside the object `pagination`.
[[nodiscard]] std::shared_ptr<const Document> read_list(const RequestInfo& request, Answer&& answer);

}  // namespace billcore::detail
