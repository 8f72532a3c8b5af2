#include "call/answer.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "call/redact.hpp"
#include "call/retry.hpp"
#include "call/routes.hpp"
#include "call/rules.hpp"
#include "http/head.hpp"
#include "json/allocator.hpp"
#include "json/json_scan.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t kept_body = 4096;  // number of bytes of an error body that the error keeps
constexpr std::size_t shown_body = 200;
constexpr std::size_t longest_error = std::size_t{64} << 10U;  // bytes; longer error bodies are not parsed

std::string ending(int attempts) { return attempts > 1 ? " (attempt " + std::to_string(attempts) + "): " : ": "; }

std::string failure_text(const RequestInfo& request, const Transfer& transfer) {
  const auto& rule = rule_of(transfer.failure);
  if (transfer.failure == Failure::memory) return rule.before;
  const bool waited_in_vain = transfer.failure == Failure::timeout && !transfer.sent;
  return (waited_in_vain ? "nothing was sent within the time-out (" : rule.before) +
         one_line(scrub(transfer.reason, request.settings.api_key), shown_body) + rule.behind;
}

[[noreturn]] void throw_failure(const RequestInfo& request, Transfer&& transfer) {
  const bool unknown = request.is_write() && transfer.sent;
  if (transfer.failure == Failure::memory && !unknown) throw std::bad_alloc();
  auto detail = detail_of(request);
  detail.http_status = transfer.status;
  auto text = failure_text(request, transfer);
  if (!unknown) {
    throw Error(rule_of(transfer.failure).error, subject(request) + text, std::move(detail));
  }
  detail.outcome_unknown = true;
  detail.sent_late = transfer.sent_late;
  add_send_time(request, transfer.sent_at, detail);
  detail.cause = rule_of(transfer.failure).error;
  detail.cause_message = std::move(text);
  auto message = subject(request) + "sent, but " + detail.cause_message + "; " + look_first;
  throw Error(ErrorCode::outcome_unknown, std::move(message), std::move(detail));
}

// Reads `error.code` and `error.message`, if the body has the form that the service interface specifies for errors.
void read_error_body(const RequestInfo& request, const std::string& body, ErrorDetail& detail) {
  const auto read = [&](const Value& error, std::string_view field) -> std::string {
    const auto found = error.find(field);
    if (!found || found->is_null()) return {};
    const auto text = found->kind() == Value::Kind::string ? found->text() : found->raw();
    return kept_text(scrub(text, request.settings.api_key, kept_body + 4), kept_body);
  };
  if (body.size() > longest_error) return;  // too long for an error body of the service
  try {
    const auto document = Document::parse({body, nullptr});
    const auto error = Value(document, document->root()).find("error");
    if (!error || !error->is_object()) return;
    detail.api_code = read(*error, "code");
    detail.api_message = read(*error, "message");
  } catch (const Error&) {
    // The body is not JSON (it is HTML, truncated or empty), so the error has only the status and the body's text.
  }
}

// Suggests a cause of a 404 answer other than an unknown id: a wrong base_url, or white space around the id.
std::string hint_for_not_found(const RequestInfo& request, const ErrorDetail& detail) {
  const std::string_view url = request.settings.base_url;
  const auto last = url.substr(url.rfind('/') + 1);
  for (const auto route : routes::all) {
    const auto first = route.substr(1, route.find('/', 1) - 1);
    if (last == first) return "; check base_url: it ends in /" + std::string(last) + ", not in the account segment";
  }
  if (detail.api_code.empty() && one_line(detail.body, shown_body).starts_with('<')) {
    return "; this is a web page, not an answer of the service: check base_url";
  }
  constexpr std::string_view blank = "%20";
  for (auto rest = request.path; !rest.empty();) {
    const auto segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), segment.size() + 1));
    if (!segment.starts_with(blank) && !segment.ends_with(blank)) continue;
    std::string id;
    for (std::size_t i = 0; i < segment.size() && id.size() < shown_body; ++i) {
      const bool is_blank = segment.substr(i).starts_with(blank);
      id += is_blank ? ' ' : segment[i];
      if (is_blank) i += blank.size() - 1;
    }
    return "; the id has white space around it: \"" + id + '"';
  }
  return {};
}

[[noreturn]] void throw_undecodable(const RequestInfo& request, const ResponseInfo& info, std::string_view body,
                                    const std::string& problem) {
  auto detail = detail_of(request);
  detail.http_status = info.status();
  detail.sent_late = info.sent_late();
  detail.request_id = info.request_id();
  detail.body = kept_text(scrub(body, request.settings.api_key, kept_body + 4), kept_body);
  const auto shown = one_line(detail.body, shown_body);
  const bool write = request.is_write();
  throw Error(ErrorCode::decode,
              subject(request) + "status " + std::to_string(info.status()) + ", but " + problem +
                  (write ? " (the request was accepted)" : "") + (shown.empty() ? "" : ": " + shown),
              std::move(detail));
}

std::string unread_text(const RequestInfo& request, const Answer& answer) {
  return one_line(scrub(answer.unread, request.settings.api_key), shown_body);
}

std::shared_ptr<Document> parse_body(const RequestInfo& request, Answer&& answer) {
  require_readable(request, answer);
  const auto text = SharedText::own(std::move(answer.body));
  if (const auto problem = problem_of_extent(text.text); !problem.empty()) {
    throw_undecodable(request, *answer.info, text.text, problem);
  }
  try {
    return Document::parse_answer(request.settings.documents, text, answer.info);
  } catch (const Error& error) {
    throw_undecodable(request, *answer.info, text.text, error.message());
  }
}

}  // namespace

std::shared_ptr<DocumentPool> AnswerSettings::make_documents() {
  constexpr std::size_t most_in_use = 8;
  return std::make_shared<DocumentPool>(most_in_use);
}

Error AnswerSettings::make_no_memory_after_send() {
  ErrorDetail detail;
  detail.outcome_unknown = true;
  detail.cause = ErrorCode::out_of_memory;
  detail.cause_message = rule_of(Failure::memory).before;
  auto message = "sent, but " + detail.cause_message + "; " + look_first;
  return {ErrorCode::outcome_unknown, std::move(message), std::move(detail)};
}

void throw_no_memory_after_send(const RequestInfo& request, int status, const SendTime& sent_at) {
  try {
    auto detail = detail_of(request);
    detail.http_status = status;
    detail.outcome_unknown = true;
    add_send_time(request, sent_at, detail);
    detail.cause = ErrorCode::out_of_memory;
    detail.cause_message = rule_of(Failure::memory).before;
    auto message = subject(request) + "sent, but " + detail.cause_message + "; " + look_first;
    throw Error(ErrorCode::outcome_unknown, std::move(message), std::move(detail));
  } catch (const std::bad_alloc&) {
    throw request.settings.no_memory_after_send;
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

void add_send_time(const RequestInfo& request, const SendTime& sent_at, ErrorDetail& detail) noexcept {
  detail.attempted_at = sent_at.utc;
  detail.service_time = request.settings.service_clock.at(sent_at.steady);
}

void ReceivedInfo::parse() const {
  std::call_once(parsed_, [this] {
    const auto& key = settings_->api_key;
    headers_.reserve(static_cast<std::size_t>(std::count(head_.begin(), head_.end(), '\n')));
    for_each_header(head_, [&](std::string_view name, std::string_view value) {
      headers_.emplace_back(lower(scrub(name, key)), scrub(value, key));
      if (headers_.back().first == settings_->request_id_header) request_id_ = headers_.back().second;
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
  request.settings.service_clock.note(transfer.head);
  auto info = std::make_shared<ReceivedInfo>(transfer.status, request.attempts, transfer.sent_late,
                                             std::move(transfer.head), request.settings.shared_from_this());
  return {std::move(info), std::move(transfer.body), transfer.sent_at, std::move(transfer.reason)};
}

void require_success(const RequestInfo& request, const Answer& answer) {
  const int status = answer.info->status();
  const auto& rule = rule_of(status);
  if (rule.outcome == Outcome::done) return;
  auto detail = detail_of(request);
  detail.http_status = status;
  detail.sent_late = answer.info->sent_late();
  detail.request_id = answer.info->request_id();
  detail.headers = answer.info->headers();
  detail.body = kept_text(scrub(answer.body, request.settings.api_key, kept_body + 4), kept_body);
  detail.outcome_unknown = request.is_write() && rule.outcome == Outcome::unknown;
  if (detail.outcome_unknown) add_send_time(request, answer.sent_at, detail);
  if (const auto wait = retry_after(answer.info->head(), unix_seconds())) {
    detail.retry_after = static_cast<double>(wait->count()) / 1000;
  }
  read_error_body(request, answer.body, detail);

  auto message = subject(request) + std::to_string(status) + ' ' + rule.meaning;
  if (!detail.api_message.empty()) {
    message += ": " + one_line(detail.api_message, shown_body);
  } else if (const auto shown = one_line(detail.body, shown_body); !shown.empty() && shown != "null") {
    message += ": " + shown;
  } else if (!answer.unread.empty()) {
    message += ": " + unread_text(request, answer);
  }
  if (!detail.api_code.empty()) message += " (" + one_line(detail.api_code, shown_body) + ')';
  if (status == 404) message += hint_for_not_found(request, detail);
  if (detail.outcome_unknown) message += std::string("; ") + look_first;
  if (!detail.request_id.empty()) message += " [request id " + one_line(detail.request_id, shown_body) + ']';
  throw Error(rule.error, std::move(message), std::move(detail));
}

void require_readable(const RequestInfo& request, const Answer& answer) {
  if (!answer.unread.empty()) throw_undecodable(request, *answer.info, {}, unread_text(request, answer));
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
  document->mark_alike(data);
  return document;
}

}  // namespace billcore::detail
