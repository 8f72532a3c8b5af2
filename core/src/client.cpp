#include "billcore/client.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "options.hpp"
#include "session.hpp"
#include "text.hpp"
#include "url.hpp"

namespace billcore {
namespace detail {
namespace {

// A segment that is `.` or `..`, also percent-encoded: servers and proxies take it for a step out of the account.
bool has_dot_segment(std::string_view path) noexcept {
  while (!path.empty()) {
    auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
    int dots = 0;
    for (; !segment.empty(); ++dots) {
      const bool encoded = segment.starts_with("%2e") || segment.starts_with("%2E");
      if (!encoded && segment.front() != '.') break;
      segment.remove_prefix(encoded ? 3 : 1);
    }
    if (segment.empty() && (dots == 1 || dots == 2)) return true;
  }
  return false;
}

[[noreturn]] void throw_interrupted(const RequestInfo& request, bool sent, std::int64_t sent_at) {
  ErrorDetail detail;
  detail.method = request.method;
  detail.path = request.path;
  detail.attempts = request.attempts;
  detail.outcome_unknown = sent && request.is_write();
  detail.attempted_at = sent ? sent_at : 0;
  throw Error(ErrorCode::interrupted,
              request.method + ' ' + request.path + ": interrupted" +
                  (detail.outcome_unknown ? " after it was sent; it may or may not have happened" : ""),
              std::move(detail));
}

// The call ended by an exception of our own side after a write had left; that exception is nested.
[[noreturn]] void throw_broken_off(const RequestInfo& request, std::int64_t sent_at) {
  ErrorDetail detail;
  detail.method = request.method;
  detail.path = request.path;
  detail.attempts = request.attempts;
  detail.outcome_unknown = true;
  detail.attempted_at = sent_at;
  detail.cause = ErrorCode::internal;
  detail.cause_message = "the call was broken off before an answer came";
  std::throw_with_nested(Error(ErrorCode::outcome_unknown,
                               request.method + ' ' + request.path + ": sent, but " + detail.cause_message +
                                   "; it may or may not have happened: look before you send it again",
                               detail));
}

}  // namespace

Session::Session(ClientOptions options, RetrySources sources)
    : options_(checked_options(std::move(options))),
      request_id_header_(lower(options_.request_id_header)),
      headers_(request_headers(options_)),
      shared_(new Shared{EnginePool(transport_options(options_)), {}, complete_sources(std::move(sources))}),
      owner_(true) {}

Session::Session(const Session& original, const ClientChanges& changes)
    : options_(changed_options(original.options_, changes)),
      request_id_header_(original.request_id_header_),
      headers_(changes.headers ? request_headers(options_) : original.headers_),
      shared_(original.shared_),
      owner_(false) {
  original.require_open();
}

RequestInfo Session::info(const Call& call) const {
  return {call.method, call.path, options_.api_key, request_id_header_, options_.base_url};
}

RequestInfo Session::info(const Call& call, const Answer& answer) const {
  auto request = info(call);
  request.attempts = answer.info->attempts;
  return request;
}

Deadline Session::deadline(const CallOptions& options) const {
  if (options.no_deadline) return std::nullopt;
  const auto timeout = options.timeout ? options.timeout : options_.timeout;
  if (!timeout) return std::nullopt;
  if (timeout->count() <= 0) throw Error(ErrorCode::invalid_argument, "timeout must be more than 0");
  return Clock::now() + std::min(*timeout, std::chrono::milliseconds(std::chrono::hours(24 * 365)));
}

void Session::require_open() const {
  if (closed_) throw Error(ErrorCode::config, "the client is closed: make a new one");
}

Transfer Session::exchange(const RequestInfo& request, const Call& call, Deadline deadline, bool fresh) {
  std::string url = options_.base_url + call.path;
  if (!call.query.empty()) url.append("?").append(query_string(call.query));

  const auto lease = shared_->pool.lease();
  Engine& engine = *lease;
  std::optional<Transfer> finished;
  auto* operation = engine.start({call.method, std::move(url), call.body, deadline, headers_, fresh},
                                 [&finished](Transfer&& transfer) { finished = std::move(transfer); });
  std::int64_t sent_at = 0;
  bool interrupted = false;
  try {
    if (!engine.drive([&finished] { return finished.has_value(); }, options_.interrupt)) {
      interrupted = true;
    }
  } catch (...) {
    // The completion refers to this frame: nothing may call it later.
    if (!finished && engine.cancel(operation, &sent_at) && request.is_write()) throw_broken_off(request, sent_at);
    throw;
  }
  if (interrupted) {
    const bool sent = engine.cancel(operation, &sent_at);
    throw_interrupted(request, sent, sent_at);
  }
  return *std::move(finished);
}

void Session::sleep(std::chrono::milliseconds length, const RequestInfo& request) {
  if (length.count() > 0 && !shared_->sources.sleep(length, options_.interrupt)) throw_interrupted(request, false, 0);
}

Answer Session::send(const Call& call, const CallOptions& options) {
  require_open();
  const auto until = deadline(options);
  const auto& sources = shared_->sources;
  auto request = info(call);
  for (;; ++request.attempts) {
    // Whoever wants exactly one send is not held up by others, either.
    if (options_.max_retries > 0) sleep(shared_->throttle.wait(sources.now(), until), request);
    auto transfer = exchange(request, call, until);
    // Not an attempt: nothing was sent. HTTP/2 would offer the same connection again.
    if (transfer.found_dead) transfer = exchange(request, call, until, true);
    const auto asked = retry_after(transfer, unix_seconds());
    const auto now = sources.now();
    const Attempts made{request.is_write(), request.attempts, options_.max_retries, until, asked};
    const auto wait = wait_before_next(made, transfer, now, sources.chance());
    if (transfer.status == 429) {
      shared_->throttle.hold_until(now + std::min(wait.value_or(asked.value_or(first_backoff)), longest_wait));
    }
    if (!wait) return complete_answer(request, std::move(transfer));
    sleep(*wait, request);
  }
}

Answer Session::succeed(const Call& call, const CallOptions& options) {
  auto answer = send(call, options);
  require_success(info(call, answer), answer);
  return answer;
}

Value Session::resource(const Call& call, const CallOptions& options) {
  auto answer = succeed(call, options);
  auto document = parse_resource(info(call, answer), std::move(answer));
  const Node* data = member(document->root(), "data");
  return {std::move(document), data};
}

std::shared_ptr<const Document> Session::list(const Call& call, const CallOptions& options) {
  auto answer = succeed(call, options);
  return parse_list(info(call, answer), std::move(answer));
}

void Session::close() noexcept {
  closed_ = true;
  if (owner_) shared_->pool.close();
}

}  // namespace detail

Client::Client(ClientOptions options) : session_(std::make_shared<detail::Session>(std::move(options))) {}

Client Client::with_options(const ClientChanges& changes) const {
  return {OfSession{}, std::make_shared<detail::Session>(*session_, changes)};
}

void Client::close() noexcept { session_->close(); }

Response Client::request(std::string_view method, std::string_view path, const RequestOptions& options,
                         const CallOptions& call) const {
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
    throw Error(ErrorCode::invalid_argument, "path must not have the steps `.` or `..`");
  }
  std::optional<std::string> body;
  if (options.json) {
    if (method == "GET") throw Error(ErrorCode::invalid_argument, "a GET has no body: pass no json");
    std::string problem;
    body = detail::compact_json(*options.json, problem);
    if (!body) throw Error(ErrorCode::invalid_argument, "json is not valid JSON: " + problem);
  }
  const detail::Call what{std::string(method), std::string(path), options.query, std::move(body)};
  auto answer = options.raise_on_error ? session_->succeed(what, call) : session_->send(what, call);
  return {std::move(answer.info), std::move(answer.body)};
}

Value Response::json() const {
  auto document = detail::Document::parse(SharedText::own(body_), {}, info_);
  const auto* root = document->root();
  return {std::move(document), root};
}

}  // namespace billcore
