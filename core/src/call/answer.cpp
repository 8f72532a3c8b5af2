#include "call/answer.hpp"

#include <new>
#include <utility>

#include "billcore/detail/outcome.hpp"
#include "call/redact.hpp"
#include "call/retry.hpp"
#include "http/head.hpp"
#include "json/json_scan.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t kept_body = 4096;  // bytes of an error's body that are kept
constexpr std::size_t shown_body = 200;
constexpr const char* no_memory_for_answer = "memory ran out while the answer was read";
constexpr const char* look_first = "; it may or may not have happened: look before you send it again";
constexpr std::size_t longest_error = std::size_t{64} << 10U;  // bytes of an error's body that is parsed

std::string ending(int attempts) { return attempts > 1 ? " (attempt " + std::to_string(attempts) + "): " : ": "; }

std::string explain(const RequestInfo& request, const Transfer& transfer) {
  const auto reason = one_line(scrub(transfer.reason, request.terms.api_key), shown_body);
  switch (transfer.failure) {
    case Failure::resolve:
      return "the host name was not found (" + reason + "): check base_url, proxy and DNS";
    case Failure::connect:
      return "no connection (" + reason + "): check base_url and proxy, and that the service is reachable";
    case Failure::handshake:
      return "TLS broke off (" + reason +
             "): check that base_url is an https address, that the service offers TLS 1.2, and whether it wants a "
             "client_certificate";
    case Failure::tls:
      return "TLS failed (" + reason + "): check the host name and the certificate, or pass ca_bundle";
    case Failure::certificate:
      return "the client's certificate is missing or not accepted (" + reason +
             "): pass client_certificate, a PEM file with a certificate that the service knows and the key of it";
    case Failure::proxy:
      return "no way through the proxy (" + reason + "): check proxy, its user name and password, and what it allows";
    case Failure::timeout:
      return std::string(transfer.sent ? "no complete answer" : "nothing was sent") + " within the time-out (" +
             reason + "): raise timeout if the service is known to be slow";
    case Failure::reset:
      return "the connection broke (" + reason + ")";
    case Failure::truncated:
      return "the answer is incomplete (" + reason + ")";
    case Failure::protocol:
      return "the answer is not HTTP as expected (" + reason + "): check base_url";
    case Failure::memory:
      return no_memory_for_answer;
    case Failure::too_large:
      return reason + ": raise max_response if such answers are expected";
    default:
      return "the transfer failed (" + reason + ")";
  }
}

[[noreturn]] void throw_failure(const RequestInfo& request, Transfer&& transfer) {
  const bool unknown = request.is_write() && transfer.sent;
  if (transfer.failure == Failure::memory && !unknown) throw std::bad_alloc();
  auto detail = detail_of(request);
  detail.http_status = transfer.status;
  auto text = explain(request, transfer);
  if (!unknown) {
    throw Error(code_of(transfer.failure), subject(request) + text, std::move(detail));
  }
  detail.outcome_unknown = true;
  detail.attempted_at = transfer.sent_at;
  detail.cause = code_of(transfer.failure);
  detail.cause_message = std::move(text);
  auto message = subject(request) + "sent, but " + detail.cause_message + look_first;
  throw Error(ErrorCode::outcome_unknown, std::move(message), std::move(detail));
}

ErrorCode code_of_status(int status) noexcept {
  switch (status) {
    case 401:
      return ErrorCode::authentication;
    case 402:
      return ErrorCode::payment;
    case 404:
      return ErrorCode::not_found;
    case 422:
      return ErrorCode::validation;
    case 429:
      return ErrorCode::rate_limit;
    default:
      return status >= 500 ? ErrorCode::server : ErrorCode::api;
  }
}

const char* meaning_of_status(int status) noexcept {
  switch (status) {
    case 401:
      return "the API key is missing or invalid";
    case 402:
      return "the charge could not be processed";
    case 404:
      return "not found, or the API key belongs to another account";
    case 422:
      return "the request was refused as invalid";
    case 429:
      return "too many requests";
    default:
      break;
  }
  if (status >= 500) return "the service failed";
  if (status >= 300 && status < 400) return "the service redirects, which is not followed: check base_url";
  return "the service refused the request";
}

// `error.code` and `error.message` of the interface's error body, where the body is one.
void read_error_body(const RequestInfo& request, const std::string& body, ErrorDetail& detail) {
  const auto read = [&](const Value& error, std::string_view field) -> std::string {
    const auto found = error.find(field);
    if (!found || found->is_null()) return {};
    const auto text = found->kind() == Value::Kind::string ? found->text() : found->raw();
    return kept_text(scrub(text, request.terms.api_key, kept_body + 4), kept_body);
  };
  if (body.size() > longest_error) return;  // no error of the interface is that long
  try {
    const auto document = Document::parse({body, nullptr});
    const auto error = Value(document, document->root()).find("error");
    if (!error || !error->is_object()) return;
    detail.api_code = read(*error, "code");
    detail.api_message = read(*error, "message");
  } catch (const Error&) {
    // HTML, half a JSON, nothing: the status says enough, the text is kept as it is.
  }
}

[[noreturn]] void throw_undecodable(const RequestInfo& request, const ResponseInfo& info, std::string_view body,
                                    const std::string& problem) {
  auto detail = detail_of(request);
  detail.http_status = info.status();
  detail.request_id = info.request_id();
  detail.body = kept_text(scrub(body, request.terms.api_key, kept_body + 4), kept_body);
  const auto shown = one_line(detail.body, shown_body);
  const bool write = request.is_write();
  throw Error(ErrorCode::decode,
              subject(request) + "status " + std::to_string(info.status()) + ", but " + problem +
                  (write ? " (the request was accepted)" : "") + (shown.empty() ? "" : ": " + shown),
              std::move(detail));
}

std::shared_ptr<const Document> parse_body(const RequestInfo& request, Answer&& answer) {
  const auto text = SharedText::own(std::move(answer.body));
  if (const auto problem = problem_of_extent(text.text); !problem.empty()) {
    throw_undecodable(request, *answer.info, text.text, problem);
  }
  try {
    return Document::parse(text, {}, answer.info);
  } catch (const Error& error) {
    throw_undecodable(request, *answer.info, text.text, error.message());
  }
}

}  // namespace

Error AnswerTerms::make_no_memory_after_send() {
  ErrorDetail detail;
  detail.outcome_unknown = true;
  detail.cause = ErrorCode::out_of_memory;
  detail.cause_message = no_memory_for_answer;
  auto message = "sent, but " + detail.cause_message + look_first;
  return {ErrorCode::outcome_unknown, std::move(message), std::move(detail)};
}

void throw_no_memory_after_send(const RequestInfo& request, int status, std::int64_t sent_at) {
  try {
    auto detail = detail_of(request);
    detail.http_status = status;
    detail.outcome_unknown = true;
    detail.attempted_at = sent_at;
    detail.cause = ErrorCode::out_of_memory;
    detail.cause_message = no_memory_for_answer;
    auto message = subject(request) + "sent, but " + detail.cause_message + look_first;
    throw Error(ErrorCode::outcome_unknown, std::move(message), std::move(detail));
  } catch (const std::bad_alloc&) {
    throw request.terms.no_memory_after_send;
  }
}

std::string subject(const RequestInfo& request) {
  if (request.page > 0) return subject_of_page(request.path, request.page, request.attempts);
  return std::string(request.method).append(" ").append(request.path) + ending(request.attempts);
}

std::string subject_of_page(std::string_view path, std::int64_t page, int attempts) {
  return std::string("GET ").append(path) + "?page=" + std::to_string(page) + ending(attempts);
}

ErrorDetail detail_of(const RequestInfo& request) {
  ErrorDetail detail;
  detail.method = request.method;
  detail.path = request.path;
  detail.attempts = request.attempts;
  return detail;
}

ErrorCode code_of(Failure failure) noexcept {
  switch (failure) {
    case Failure::timeout:
      return ErrorCode::timeout;
    case Failure::handshake:
    case Failure::tls:
    case Failure::certificate:
      return ErrorCode::tls;
    case Failure::too_large:
      return ErrorCode::decode;
    case Failure::none:
    case Failure::resolve:
    case Failure::connect:
    case Failure::reset:
    case Failure::truncated:
    case Failure::protocol:
    case Failure::proxy:
      return ErrorCode::connection;
    case Failure::memory:
      return ErrorCode::out_of_memory;
    case Failure::other:
      return ErrorCode::transport;
  }
  return ErrorCode::transport;
}

void ReceivedInfo::parse() const {
  std::call_once(parsed_, [this] {
    const auto& key = terms_->api_key;
    for_each_header(head_, [&](std::string_view name, std::string_view value) {
      headers_.emplace_back(scrub(lower(name), lower(key)), scrub(value, key));
      if (headers_.back().first == terms_->request_id_header) request_id_ = headers_.back().second;
      return false;
    });
  });
}

const std::vector<std::pair<std::string, std::string>>& ReceivedInfo::headers() const {
  parse();
  return headers_;
}

const std::string& ReceivedInfo::request_id() const {
  parse();
  return request_id_;
}

Answer complete_answer(const RequestInfo& request, Transfer&& transfer) {
  if (transfer.failure != Failure::none) throw_failure(request, std::move(transfer));
  auto info = std::make_shared<ReceivedInfo>(transfer.status, request.attempts, std::move(transfer.head),
                                             request.terms.shared_from_this());
  return {std::move(info), std::move(transfer.body), transfer.sent_at};
}

void require_success(const RequestInfo& request, const Answer& answer) {
  const int status = answer.info->status();
  if (status >= 200 && status < 300) return;
  auto detail = detail_of(request);
  detail.http_status = status;
  detail.request_id = answer.info->request_id();
  detail.body = kept_text(scrub(answer.body, request.terms.api_key, kept_body + 4), kept_body);
  detail.outcome_unknown = request.is_write() && outcome_of_status(status) == Outcome::unknown;
  if (detail.outcome_unknown) detail.attempted_at = answer.sent_at;
  if (const auto wait = retry_after(answer.info->head(), unix_seconds())) {
    detail.retry_after = static_cast<double>(wait->count()) / 1000;
  }
  read_error_body(request, answer.body, detail);

  auto message = subject(request) + std::to_string(status) + ' ' + meaning_of_status(status);
  if (!detail.api_message.empty()) {
    message += ": " + one_line(detail.api_message, shown_body);
  } else if (const auto shown = one_line(detail.body, shown_body); !shown.empty() && shown != "null") {
    message += ": " + shown;
  }
  if (!detail.api_code.empty()) message += " (" + one_line(detail.api_code, shown_body) + ')';
  if (detail.outcome_unknown) message += "; it may or may not have happened: look before you send it again";
  throw Error(code_of_status(status), std::move(message), std::move(detail));
}

Value read_resource(const RequestInfo& request, Answer&& answer) {
  require_success(request, answer);
  auto document = parse_body(request, std::move(answer));
  const Node* data = member(document->root(), "data");
  if (data == nullptr || kind(data) != Value::Kind::object) {
    throw_undecodable(request, *document->info(), document->text(), "the answer has no object `data`");
  }
  return {std::move(document), data};
}

std::shared_ptr<const Document> read_list(const RequestInfo& request, Answer&& answer) {
  require_success(request, answer);
  auto document = parse_body(request, std::move(answer));
  const Node* data = member(document->root(), "data");
  const Node* pagination = member(document->root(), "pagination");
  if (data == nullptr || kind(data) != Value::Kind::array) {
    throw_undecodable(request, *document->info(), document->text(), "the answer has no array `data`");
  }
  if (pagination == nullptr || kind(pagination) != Value::Kind::object) {
    throw_undecodable(request, *document->info(), document->text(), "the answer has no object `pagination`");
  }
  return document;
}

}  // namespace billcore::detail
