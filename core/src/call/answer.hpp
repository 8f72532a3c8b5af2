// Turns the result of a transfer into a value or a typed error. Pure functions; internal.
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
#include "call/service_clock.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// Settings for reading answers. The answers share ownership of the settings, so the settings may outlive the client.
struct AnswerSettings : std::enable_shared_from_this<AnswerSettings> {
  AnswerSettings(std::string key, std::string header, std::string url = {})
      : api_key(std::move(key)), request_id_header(std::move(header)), base_url(std::move(url)) {}
  const std::string api_key;
  const std::string request_id_header;  // in lower case
  const std::string base_url;
  mutable ServiceClock service_clock;  // the service's clock, updated from the Date headers of answers
  const std::shared_ptr<DocumentPool> documents = make_documents();
  /// The error that is thrown when memory runs out after a write was sent. This error is created together with the
  /// client, because no error can be created when memory has run out.
  const Error no_memory_after_send = make_no_memory_after_send();

 private:
  static std::shared_ptr<DocumentPool> make_documents();
  static Error make_no_memory_after_send();
};

/// The properties of a request that appear in the request's errors. All texts are borrowed.
struct RequestInfo {
  std::string_view method;
  std::string_view path;  // path relative to the base URL, encoded, without query
  const AnswerSettings& settings;
  int attempts = 1;       // number of attempts so far, including the current one
  std::int64_t page = 0;  // page number of a list; 0: not a list

  [[nodiscard]] bool is_write() const noexcept { return billcore::is_write(method); }
};

/// ResponseInfo that keeps the raw header lines, and parses and redacts them on first use.
class ReceivedInfo final : public ResponseInfo {
 public:
  ReceivedInfo(int status, int attempts, bool sent_late, std::string head,
               std::shared_ptr<const AnswerSettings> settings) noexcept
      : ResponseInfo(status, attempts, sent_late), head_(std::move(head)), settings_(std::move(settings)) {}
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

/// A complete answer, with any status.
struct Answer {
  std::shared_ptr<const ReceivedInfo> info;
  std::string body;
  SendTime sent_at;
  std::string unread;  // why the body could not be decoded; empty if it could
};

/// Prefix of a request's error messages: "GET /order/1 (attempt 2): "; for a list "GET /products?page=57: ". The prefix
/// contains no query parameter except `page`, since the others may be secret.
[[nodiscard]] std::string subject(const RequestInfo& request);
[[nodiscard]] std::string subject_of_page(std::string_view path, std::int64_t page, int attempts);
/// The fields that all errors of one request have.
[[nodiscard]] ErrorDetail detail_of(const RequestInfo& request);
/// Adds the time at which the request was sent to `detail`: by the local clock, and by the service's clock if it is
/// known.
void add_send_time(const RequestInfo& request, const SendTime& sent_at, ErrorDetail& detail) noexcept;

/// Throws the error of a write that was sent, when memory ran out before the answer was read; never throws
/// std::bad_alloc. `status` is the HTTP status of a received answer, else 0.
[[noreturn]] void throw_no_memory_after_send(const RequestInfo& request, int status, const SendTime& sent_at);
/// Converts a transfer to its complete answer; throws the call's error if the transfer has no complete answer.
[[nodiscard]] Answer complete_answer(const RequestInfo& request, Transfer&& transfer);
/// Throws the typed error for any status except 2xx.
void require_success(const RequestInfo& request, const Answer& answer);
/// Throws Error(decode) if the body of a successful answer could not be decoded.
void require_readable(const RequestInfo& request, const Answer& answer);
/// Returns the object `data` of a successful answer, without checking the content of the object. Throws like
/// require_success(); throws Error(decode) if the answer has no object `data`.
[[nodiscard]] Value read_resource(const RequestInfo& request, Answer&& answer);
/// Like read_resource(), but for a page of a list: returns the document, which contains the array `data` and the object
/// `pagination`.
[[nodiscard]] std::shared_ptr<const Document> read_list(const RequestInfo& request, Answer&& answer);

}  // namespace billcore::detail
