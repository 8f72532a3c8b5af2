#include "call/session.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "billcore/detail/outcome.hpp"
#include "call/options.hpp"

namespace billcore::detail {
namespace {

ErrorDetail detail_of_cut_off(const RequestInfo& request, const Exchange::Left& left) {
  auto detail = detail_of(request);
  detail.outcome_unknown = left.sent && request.is_write();
  detail.attempted_at = left.sent ? left.sent_at : 0;
  return detail;
}

// The call ended by an exception of our own side after a write had left; that exception is nested.
[[noreturn]] void throw_broken_off(const RequestInfo& request, const Exchange::Left& left) {
  auto detail = detail_of_cut_off(request, left);
  detail.cause = ErrorCode::internal;
  detail.cause_message = "the call was broken off before an answer came";
  std::throw_with_nested(Error(ErrorCode::outcome_unknown,
                               subject(request) + "sent, but " + detail.cause_message +
                                   "; it may or may not have happened: look before you send it again",
                               detail));
}

}  // namespace

Error interrupted(const RequestInfo& request, const Exchange::Left& left) {
  auto detail = detail_of_cut_off(request, left);
  const char* after = detail.outcome_unknown ? " after it was sent; it may or may not have happened" : "";
  return {ErrorCode::interrupted, subject(request) + "interrupted" + after, std::move(detail)};
}

namespace {

// What a successful answer holds, if it is as promised.
std::optional<Value> data_of(const RequestInfo& request, Answer&& answer) {
  try {
    return read_resource(request, std::move(answer));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Error interrupt(Exchange& exchange) {
  const auto request = exchange.request();
  if (!exchange.done() || !request.is_write()) return interrupted(request, exchange.cancel());
  try {
    auto answer = exchange.answer();
    const int status = answer.info->status();
    auto detail = detail_of(request);
    detail.http_status = status;
    detail.request_id = answer.info->request_id();
    detail.outcome_unknown = outcome_of_status(status) == Outcome::unknown;
    if (detail.outcome_unknown) detail.attempted_at = answer.sent_at;
    const auto data = data_of(request, std::move(answer));
    return {ErrorCode::interrupted, interrupted_after_answer(subject(request), status, data), std::move(detail)};
  } catch (const Error& error) {  // no complete answer
    return {ErrorCode::interrupted, interrupted_after_error(error), error.detail()};
  }
}

Session::Session(ClientOptions options, RetrySources sources) : owner_(true) {
  terms_.options = checked_options(std::move(options));
  terms_.answers = std::make_shared<AnswerTerms>(terms_.options.api_key, lower(terms_.options.request_id_header));
  terms_.headers = request_headers(terms_.options);
  terms_.shared = std::shared_ptr<Shared>(
      new Shared{EnginePool(transport_options(terms_.options)), {}, complete_sources(std::move(sources))});
}

Session::Session(const Session& original, const ClientChanges& changes) : terms_(original.terms_), owner_(false) {
  original.require_open();
  terms_.options = changed_options(std::move(terms_.options), changes);
  if (changes.headers) terms_.headers = request_headers(terms_.options);
}

Deadline Session::deadline(const CallOptions& options) const {
  if (options.no_deadline) return std::nullopt;
  const auto timeout = options.timeout ? options.timeout : terms_.options.timeout;
  if (!timeout) return std::nullopt;
  if (timeout->count() <= 0) throw Error(ErrorCode::invalid_argument, "timeout must be more than 0");
  return SteadyClock::now() + std::min(*timeout, std::chrono::milliseconds(std::chrono::hours(24 * 365)));
}

Hooks* Session::hooks(const CallOptions& options) const noexcept {
  return options.hooks ? options.hooks.get() : terms_.options.hooks.get();
}

void Session::require_open() const {
  if (closed_) throw Error(ErrorCode::config, "the client is closed: make a new one");
}

bool Session::close() noexcept {
  closed_ = true;
  if (owner_) terms_.shared->pool.close();
  return owner_;
}

namespace {

// False when the call was interrupted.
bool finish(Exchange& exchange, Engine& engine, const std::function<bool()>& interrupt) {
  try {
    exchange.start(nullptr);
    return engine.drive([&exchange] { return exchange.done(); }, interrupt);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    const auto left = exchange.cancel();
    if (left.sent && exchange.request().is_write()) throw_broken_off(exchange.request(), left);
    throw;
  }
}

}  // namespace

void Session::send(const Operation& operation, const CallOptions& options,
                   const std::function<void(Completed&)>& read) {
  require_open();
  const auto until = deadline(options);
  const auto lease = terms_.shared->pool.lease();
  Engine& engine = *lease;
  Exchange exchange(terms_, engine, operation, until, hooks(options));
  exchange.telling_whether_sent([&] {
    if (!finish(exchange, engine, terms_.options.interrupt)) throw interrupt(exchange);
    Completed completed(exchange);
    read(completed);
  });
}

Value Session::resource(const Operation& operation, const CallOptions& options) {
  std::optional<Value> out;
  send(operation, options, [&out](Completed& completed) { out = completed.resource(); });
  return *std::move(out);
}

std::shared_ptr<const Document> Session::list(const Operation& operation, const CallOptions& options) {
  std::shared_ptr<const Document> out;
  send(operation, options, [&out](Completed& completed) { out = completed.list(); });
  return out;
}

Response Session::response(const Operation& operation, bool raise_on_error, const CallOptions& options) {
  std::optional<Response> out;
  send(operation, options, [&](Completed& completed) { out = completed.response(raise_on_error); });
  return *std::move(out);
}

}  // namespace billcore::detail
