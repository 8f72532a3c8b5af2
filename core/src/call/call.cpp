#include "call/call.hpp"

#include <utility>

#include "call/redact.hpp"
#include "call/rules.hpp"
#include "http/head.hpp"
#include "http/url.hpp"
#include "json/json_scan.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t longest_url = std::size_t{256} << 10U;  // libcurl refuses a request head over 1 MB

// Whether an answer is incomplete. Answers with an error status never count as incomplete, because their bodies do not
// matter. If libcurl does not report whether the body is complete, the answer counts as incomplete unless its JSON
// certainly is complete. An HTTP/1 answer without a length ends when the server closes the connection; such an answer
// counts as incomplete only if its JSON breaks off. An answer whose content coding breaks off is incomplete.
bool is_cut_off(const Transfer& transfer, const Operation& operation) noexcept {
  if (transfer.failure != Failure::none || transfer.ending == Ending::framed) return false;
  if (rule_of(transfer.status).outcome != Outcome::done) return false;
  if (transfer.ending == Ending::cut) return true;
  if (transfer.ending == Ending::unseen) return !shows_its_end(transfer.body);
  return (operation.promises_json || !transfer.body.empty()) && ends_within_json(transfer.body);
}

// Whether the JSON of an answer breaks off although its body has the declared length, because a proxy lost the rest and
// then counted the bytes. Scans only a body that does not end in a brace, as the objects of the service do; the parser
// reports what is wrong with the others. A body that cannot be decoded (`reason`) is not JSON.
bool breaks_off(const Transfer& transfer, const Operation& operation) noexcept {
  if (transfer.failure != Failure::none || !transfer.reason.empty() || !operation.promises_json) return false;
  const auto last = transfer.body.find_last_not_of(" \t\r\n");
  if (last == std::string::npos || transfer.body[last] == '}') return false;
  return rule_of(transfer.status).outcome == Outcome::done && ends_within_json(transfer.body);
}

// The error code of the exception that is being handled.
ErrorCode code_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return ErrorCode::out_of_memory;
  } catch (const Error& error) {
    return error.code();
  } catch (...) {
    return ErrorCode::internal;
  }
}

// Whether the attempt was a write of unknown outcome that the client itself ended. The caller may never get the error
// of an attempt that the client ended; the caller always gets the error of any other failure, such as a time-out.
bool is_given_up(const Attempt& attempt) noexcept {
  switch (attempt.failure) {
    case ErrorCode::interrupted:
    case ErrorCode::out_of_memory:
    case ErrorCode::internal:
      return attempt.outcome_unknown;
    default:
      return false;
  }
}

}  // namespace

Call::Call(const ClientSettings& settings, Engine& engine, const Operation& operation, Deadline deadline,
           Hooks* hooks) noexcept
    : settings_(settings),
      engine_(engine),
      operation_(operation),
      deadline_(deadline),
      hooks_(hooks),
      process_(settings.state->pool.process()),
      tells_(hooks != nullptr && hooks->every_attempt()) {}

Call::~Call() {
  const auto left = drop(false);
  if (open_) tell_given_up(left, ErrorCode::interrupted);
}

RequestInfo Call::request() const noexcept {
  return {operation_.method, operation_.path, *settings_.answers, attempts_, operation_.page};
}

void Call::require_ours() const {
  if (is_ours()) return;
  throw Error(ErrorCode::config, subject(request()) +
                                     "this process was forked within the call, which its parent goes on with: call "
                                     "again here");
}

Attempt Call::about() const noexcept {
  Attempt out;
  out.method = operation_.method;
  out.route = operation_.route.empty() ? "(other)" : operation_.route;
  out.number = attempts_;
  return out;
}

Attempt Call::about_end() const noexcept {
  auto out = about();
  if (tells_) out.duration = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - begun_);
  out.request_id = shown_id_;
  return out;
}

Attempt Call::about_end(const Transfer& transfer) noexcept {
  if (tells_ && transfer.status != 0) note_request_id(transfer.head);
  auto out = about_end();
  out.sent = transfer.sent;
  if (transfer.failure == Failure::none) {
    out.status = transfer.status;
    out.outcome_unknown = operation_.is_write() && rule_of(transfer.status).outcome == Outcome::unknown;
  } else {
    out.failure = rule_of(transfer.failure).error;
    out.outcome_unknown = operation_.is_write() && transfer.sent;
  }
  return out;
}

// Exceptions from a hook are ignored: a hook must not change the result of a call.
void Call::tell(void (Hooks::*hook)(const Attempt&), const Attempt& attempt) noexcept {
  in_hook_ = true;
  try {
    (hooks_->*hook)(attempt);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
  in_hook_ = false;
}

void Call::tell_given_up(const SendState& left, ErrorCode why) noexcept {
  auto attempt = about_end();
  attempt.failure = why;
  attempt.sent = left.sent;
  attempt.outcome_unknown = operation_.is_write() && left.sent;
  tell_end(attempt);
}

void Call::tell_end(Attempt attempt) noexcept {
  if (!std::exchange(open_, false) || !is_ours()) return;
  if (is_given_up(attempt)) {
    attempt.path = shown_path();
  } else if (!tells_) {
    return;
  }
  tell(&Hooks::on_response, attempt);
}

// Stores the request id for the hook; if memory runs out, the hook gets no id.
void Call::note_request_id(std::string_view head) noexcept try {
  const auto& answers = *settings_.answers;
  shown_id_ = scrub(find_header(head, answers.request_id_header), answers.api_key);
} catch (...) {
  shown_id_.clear();
}

// The redacted path for the hook, or the route if memory runs out.
std::string_view Call::shown_path() noexcept try {
  shown_path_ = scrub(operation_.path, settings_.answers->api_key);
  return shown_path_;
} catch (...) {
  return about().route;
}

template <typename Step>
void Call::guarded(Step step) noexcept {
  try {
    step();
  } catch (...) {
    exception_ = std::current_exception();
    if (open_) tell_given_up(send_state_, code_of_exception());
    finish();
  }
}

void Call::start(std::function<void()> done) noexcept {
  when_done_ = std::move(done);
  guarded([this] { attempt(); });
}

void Call::attempt() {
  const auto& state = *settings_.state;
  // With max_retries=0 the throttle is skipped: other calls must not delay the only attempt.
  std::chrono::milliseconds held{0};
  if (settings_.options.max_retries > 0) held = state.throttle.wait(state.environment.now(), deadline_);
  wait(held, &Call::begin);
}

void Call::begin() {
  send_state_ = {};
  open_ = tells_ || (hooks_ != nullptr && operation_.is_write());
  if (tells_) {
    require_ours();
    shown_id_.clear();
    begun_ = SteadyClock::now();
    tell(&Hooks::on_request, about());
    require_ours();  // the hook may have forked the process
    if (ends_after_hook_) {
      throw Error(ErrorCode::interrupted, subject(request()) + "cancelled before it was sent", detail_of(request()));
    }
  }
  // A service may again refuse a request on a shared connection, but hardly the first request on a new connection.
  send(refused_ && attempts_ > settings_.options.max_retries);
}

void Call::send(bool fresh) {
  const auto query = query_string(operation_.query);
  const auto& base_url = settings_.options.base_url;
  std::string url;
  url.reserve(base_url.size() + operation_.path.size() + 1 + query.size());
  url.append(base_url).append(operation_.path);
  if (!query.empty()) url.append("?").append(query);
  if (url.size() > longest_url) {
    throw Error(ErrorCode::invalid_argument, "the URL has " + std::to_string(url.size()) + " bytes, over " +
                                                 std::to_string(longest_url) +
                                                 ": an id or an option is too long; nothing was sent");
  }
  in_flight_ = engine_.start(
      {operation_.method, std::move(url), operation_.body, deadline_, settings_.headers, fresh, operation_.is_write()},
      [this](Transfer&& transfer) { on_transfer(std::move(transfer)); });
}

void Call::wait(std::chrono::milliseconds length, void (Call::*then)()) {
  const auto& environment = settings_.state->environment;
  if (length.count() <= 0) {
    (this->*then)();
  } else if (environment.sleep) {
    environment.sleep(length);
    (this->*then)();
  } else {
    pause_ = engine_.at(SteadyClock::now() + length, [this, then] {
      pause_.reset();
      guarded([this, then] { (this->*then)(); });
    });
  }
}

void Call::on_transfer(Transfer&& transfer) noexcept {
  in_flight_ = nullptr;
  send_state_ = {transfer.sent, transfer.sent_at};
  status_ = transfer.failure == Failure::none ? transfer.status : 0;
  guarded([&] {
    // No part of the request was sent, so this transfer does not count as an attempt. Send the request over a new
    // connection; otherwise libcurl would choose the same HTTP/2 connection again.
    if (transfer.dead_before_send) return send(true);
    if (is_cut_off(transfer, operation_)) {
      status_ = 0;
      transfer.failure = Failure::truncated;
      const bool within = ends_within_json(transfer.body) && !transfer.body.empty();
      if (transfer.reason.empty())
        transfer.reason = within || transfer.ending == Ending::closed
                              ? "its JSON is incomplete"
                              : "this libcurl does not tell whether HTTP/2 without Content-Length was cut";
    }
    transfer.breaks_off = breaks_off(transfer, operation_);
    settle(std::move(transfer));
  });
}

void Call::settle(Transfer&& transfer) {
  std::optional<Attempt> ended;
  if (open_) tell_end(ended.emplace(about_end(transfer)));
  std::optional<std::chrono::milliseconds> pause;
  if (may_repeat(operation_.is_write(), transfer) || transfer.status == 429) {
    limited_ = limited_ || transfer.status == 429;
    auto& state = *settings_.state;
    const auto asked = retry_after(transfer.head, unix_seconds());
    const auto now = state.environment.now();
    pause = wait_before_next({operation_.is_write(), attempts_, settings_.options.max_retries, deadline_, asked},
                             transfer, now, state.environment.chance());
    if (transfer.status == 429) state.throttle.hold_until(now + hold_after_429(pause, asked));
  }
  if (pause && ended && tells_ && is_ours() && !ends_after_hook_) {
    ended->wait = *pause;
    tell(&Hooks::on_retry, *ended);
  }
  if (!pause || ends_after_hook_) {
    transfer_ = std::move(transfer);
    return finish();
  }
  ++attempts_;
  refused_ = transfer.failure == Failure::refused;
  wait(*pause, &Call::attempt);
}

void Call::stop(std::optional<Engine::Timer>& timer) noexcept {
  if (timer) engine_.stop(*std::exchange(timer, std::nullopt));
}

void Call::expire_at(Deadline deadline) {
  stop(expiry_);
  if (done_) return;
  deadline_ = deadline;
  if (in_flight_ != nullptr) Engine::set_deadline(in_flight_, deadline);
  if (!deadline) return;
  expiry_ = engine_.at(*deadline, [this] {
    expiry_.reset();
    guarded([this] { expire(); });
  });
}

void Call::expire() {
  send_state_ = drop(true);
  Transfer transfer;
  transfer.failure = Failure::timeout;
  transfer.reason = "no answer in time";
  transfer.sent = send_state_.sent;
  transfer.sent_at = send_state_.sent_at;
  if (open_) tell_end(about_end(transfer));
  transfer_ = std::move(transfer);
  finish();
}

void Call::finish() noexcept {
  done_ = true;
  stop(expiry_);
  // Calling `done` must be the last step, because `done` may destroy this call.
  if (const auto done = std::exchange(when_done_, nullptr)) done();
}

Answer Call::answer() {
  if (exception_) std::rethrow_exception(exception_);
  return complete_answer(request(), std::move(*transfer_));
}

void Call::throw_if_sent() {
  if (!done_ && in_flight_ != nullptr) send_state_ = cancel(ErrorCode::out_of_memory);
  const bool refused = status_ != 0 && rule_of(status_).outcome == Outcome::refused;
  if (operation_.is_write() && send_state_.sent && !refused)
    throw_no_memory_after_send(request(), status_, send_state_.sent_at);
}

Call::SendState Call::drop(bool given_up) noexcept {
  SendState state;
  if (InFlight* const flight = std::exchange(in_flight_, nullptr)) {
    const auto progress = Engine::progress(flight);
    state = {progress.sent, progress.sent_at};
    if (open_) note_request_id(progress.head);
    if (is_ours()) {
      if (given_up) {
        engine_.cancel(flight);
      } else {
        engine_.detach(flight);
      }
    }
  }
  stop(pause_);
  stop(expiry_);
  return state;
}

Call::SendState Call::cancel(ErrorCode why) noexcept {
  const auto state = drop(true);
  if (open_) tell_given_up(state, why);
  return state;
}

}  // namespace billcore::detail
