#include "call/session.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "billcore/detail/outcome.hpp"
#include "call/options.hpp"
#include "call/request_headers.hpp"

namespace billcore::detail {
namespace {

ErrorDetail detail_of_cut_off(const RequestInfo& request, const Call::SendState& state) {
  auto detail = detail_of(request);
  detail.outcome_unknown = state.sent && request.is_write();
  if (state.sent) add_send_time(request, state.sent_at, detail);
  return detail;
}

// Throws Error(outcome_unknown) for a write whose call was ended by an exception after the write was sent. The thrown
// error contains the original exception (std::throw_with_nested).
[[noreturn]] void throw_broken_off(const RequestInfo& request, const Call::SendState& state) {
  auto detail = detail_of_cut_off(request, state);
  detail.cause = ErrorCode::internal;
  detail.cause_message = "the call was aborted before an answer arrived";
  std::throw_with_nested(Error(ErrorCode::outcome_unknown,
                               subject(request) + "sent, but " + detail.cause_message +
                                   "; it may or may not have happened: look before you send it again",
                               detail));
}

}  // namespace

Error interruption_error(const RequestInfo& request, const Call::SendState& state) {
  auto detail = detail_of_cut_off(request, state);
  const char* after = detail.outcome_unknown ? " after it was sent; it may or may not have happened" : "";
  return {ErrorCode::interrupted, subject(request) + "interrupted" + after, std::move(detail)};
}

namespace {

// The object `data` of a successful answer; nullopt for an error status or a malformed answer.
std::optional<Value> data_of(const RequestInfo& request, Answer&& answer) {
  try {
    return read_resource(request, std::move(answer));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Error end_by_interruption(Call& call) {
  const auto request = call.request();
  if (!call.done() || !request.is_write()) return interruption_error(request, call.cancel());
  try {
    auto answer = call.answer();
    const int status = answer.info->status();
    auto detail = detail_of(request);
    detail.http_status = status;
    detail.request_id = answer.info->request_id();
    detail.outcome_unknown = outcome_of_status(status) == Outcome::unknown;
    if (detail.outcome_unknown) add_send_time(request, answer.sent_at, detail);
    const auto data = data_of(request, std::move(answer));
    return {ErrorCode::interrupted, interrupted_after_answer(subject(request), status, data), std::move(detail)};
  } catch (const Error& error) {  // thrown if the call has no complete answer
    return {ErrorCode::interrupted, interrupted_after_error(error), error.detail()};
  }
}

Session::Session(ClientOptions options, RetryEnvironment environment) : owner_(true) {
  settings_.options = checked_options(std::move(options));
  settings_.answers = std::make_shared<AnswerSettings>(
      settings_.options.api_key, lower(settings_.options.request_id_header), settings_.options.base_url);
  settings_.headers = request_headers(settings_.options);
  settings_.state = std::shared_ptr<ClientState>(new ClientState{
      EnginePool(transport_options(settings_.options)), {}, complete_environment(std::move(environment))});
}

Session::Session(const Session& original, const ClientChanges& changes) : settings_(original.settings_), owner_(false) {
  original.require_open();
  settings_.options = changed_options(std::move(settings_.options), changes);
  if (changes.headers) settings_.headers = request_headers(settings_.options);
}

Deadline deadline_after(std::chrono::milliseconds timeout, const char* name) {
  if (timeout == no_timeout) return std::nullopt;
  if (timeout.count() <= 0) throw Error(ErrorCode::invalid_argument, std::string(name) + " must be more than 0");
  return SteadyClock::now() +
         std::min<std::chrono::milliseconds>(timeout, std::chrono::milliseconds(std::chrono::hours(24 * 365)));
}

Deadline Session::deadline(const CallOptions& options) const {
  return deadline_after(options.timeout.value_or(settings_.options.timeout), "timeout");
}

EnginePool::Lease Session::lease(const Operation& operation, int at_once, const Deadline& until,
                                 const CallOptions& options) const {
  auto& pool = settings_.state->pool;
  const int wanted = pool.options().http2 ? 1 : at_once;  // over HTTP/2 one connection carries many requests
  try {
    return pool.lease(wanted, {until, interrupt_of(options), options.cancel});
  } catch (const EnginePool::NotLeased& why) {
    const RequestInfo request{operation.method, operation.path, *settings_.answers, 1, operation.page};
    if (why.interrupted) throw interruption_error(request, {});
    Transfer unsent;
    unsent.failure = Failure::timeout;
    unsent.reason = "no connection was free in time";
    static_cast<void>(complete_answer(request, std::move(unsent)));
    throw;  // not reached: complete_answer() throws
  }
}

Hooks* Session::hooks(const CallOptions& options) const noexcept {
  return options.hooks ? options.hooks.get() : settings_.options.hooks.get();
}

void Session::require_open() const {
  if (closed_) throw Error(ErrorCode::config, "the client is closed: make a new one");
}

bool Session::close() noexcept {
  closed_ = true;
  if (owner_) settings_.state->pool.close();
  return owner_;
}

namespace {

// Starts a call and drives it until it is done; returns false if the call was interrupted.
bool finish(Call& call, Engine& engine, const std::function<bool()>& interrupt, const std::stop_token& cancel) {
  // A signal handler may fork the process. The child must not use the parent's connection.
  const auto asked = [&] {
    const bool ends = interrupt();
    call.require_ours();
    return ends;
  };
  try {
    call.start(nullptr);
    if (call.done()) return true;
    return engine.drive([&call] { return call.done(); }, interrupt ? asked : std::function<bool()>(), cancel);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    const auto state = call.cancel(ErrorCode::internal);
    if (state.sent && call.request().is_write()) throw_broken_off(call.request(), state);
    throw;
  }
}

}  // namespace

void Session::send(const Operation& operation, const CallOptions& options,
                   const std::function<void(Completed&)>& read) {
  require_open();
  const auto until = deadline(options);
  const auto lease = this->lease(operation, 1, until, options);
  Engine& engine = *lease;
  Call call(settings_, engine, operation, until, hooks(options));
  call.telling_whether_sent([&] {
    if (options.cancel.stop_requested()) throw interruption_error(call.request(), {});  // the request was not sent
    const bool ended = !finish(call, engine, interrupt_of(options), options.cancel);
    // If the answer has arrived, return it even though a stop was requested: the caller of a charge must get the order.
    if (ended && !(call.done() && options.cancel.stop_requested())) throw end_by_interruption(call);
    Completed completed(call);
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
