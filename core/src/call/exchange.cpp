#include "call/exchange.hpp"

#include <utility>

#include "call/redact.hpp"
#include "call/rules.hpp"
#include "http/head.hpp"
#include "http/url.hpp"
#include "json/json_scan.hpp"

namespace billcore::detail {
namespace {

// What a hook throws must not change what becomes of a call.
void tell(Hooks& hooks, void (Hooks::*hook)(const Attempt&), const Attempt& attempt) noexcept {
  try {
    (hooks.*hook)(attempt);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

// Where nothing says how long the body is, its end and a broken stream look the same: libcurl reports neither a stream that
// HTTP/2 resets with NO_ERROR nor an early end of a connection. An error is known by its status, whatever its body.
bool is_cut_off(const Transfer& transfer, const Operation& operation) noexcept {
  if (transfer.failure != Failure::none || transfer.is_delimited) return false;
  if (rule_of(transfer.status).outcome != Outcome::done) return false;
  return (operation.promises_json || !transfer.body.empty()) && ends_within_json(transfer.body);
}

}  // namespace

Exchange::Exchange(const Terms& terms, Engine& engine, const Operation& operation, Deadline deadline,
                   Hooks* hooks) noexcept
    : terms_(terms), engine_(engine), operation_(operation), deadline_(deadline), hooks_(hooks) {}

Exchange::~Exchange() {
  if (running_ != nullptr) engine_.drop(running_);
  stop(waiting_);
  stop(clock_);
}

RequestInfo Exchange::request() const noexcept {
  return {operation_.method, operation_.path, *terms_.answers, attempts_, operation_.page};
}

Attempt Exchange::about(const Transfer* transfer) {
  Attempt out;
  out.method = operation_.method;
  out.route = operation_.route.empty() ? "(other)" : operation_.route;
  out.number = attempts_;
  if (transfer == nullptr) return out;
  out.duration = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - begun_);
  if (transfer->failure == Failure::none) {
    out.status = transfer->status;
    const auto& answers = *terms_.answers;
    shown_id_ = scrub(find_header(transfer->head, answers.request_id_header), answers.api_key);
    out.request_id = shown_id_;
  } else {
    out.failure = rule_of(transfer->failure).error;
  }
  return out;
}

template <typename Step>
void Exchange::guarded(Step step) noexcept {
  try {
    step();
  } catch (...) {
    failed_ = std::current_exception();
    finish();
  }
}

void Exchange::start(std::function<void()> done) noexcept {
  when_done_ = std::move(done);
  guarded([this] { attempt(); });
}

void Exchange::attempt() {
  const auto& shared = *terms_.shared;
  // Whoever wants exactly one send is not held up by others, either.
  std::chrono::milliseconds held{0};
  if (terms_.options.max_retries > 0) held = shared.throttle.wait(shared.sources.now(), deadline_);
  wait(held, &Exchange::begin);
}

void Exchange::begin() {
  if (hooks_ != nullptr) {
    begun_ = SteadyClock::now();
    tell(*hooks_, &Hooks::on_request, about(nullptr));
  }
  send(false);
}

void Exchange::send(bool fresh) {
  std::string url = terms_.options.base_url + operation_.path;
  if (!operation_.query.empty()) url.append("?").append(query_string(operation_.query));
  running_ = engine_.start({operation_.method, std::move(url), operation_.body, deadline_, terms_.headers, fresh},
                           [this](Transfer&& transfer) { finished(std::move(transfer)); });
}

void Exchange::wait(std::chrono::milliseconds length, void (Exchange::*then)()) {
  const auto& sources = terms_.shared->sources;
  if (length.count() <= 0) {
    (this->*then)();
  } else if (sources.sleep) {
    sources.sleep(length);
    (this->*then)();
  } else {
    waiting_ = engine_.at(SteadyClock::now() + length, [this, then] {
      waiting_.reset();
      guarded([this, then] { (this->*then)(); });
    });
  }
}

void Exchange::finished(Transfer&& transfer) noexcept {
  running_ = nullptr;
  left_ = {transfer.sent, transfer.sent_at};
  status_ = transfer.failure == Failure::none ? transfer.status : 0;
  guarded([&] {
    // Not an attempt: nothing was sent. HTTP/2 would offer the same connection again.
    if (transfer.dead_before_send) return send(true);
    if (is_cut_off(transfer, operation_)) {
      status_ = 0;
      transfer.failure = Failure::truncated;
      transfer.reason = "its JSON has no end";
    }
    settle(std::move(transfer));
  });
}

void Exchange::settle(Transfer&& transfer) {
  if (hooks_ != nullptr) tell(*hooks_, &Hooks::on_response, about(&transfer));
  std::optional<std::chrono::milliseconds> pause;
  if (may_repeat(operation_.is_write(), transfer) || transfer.status == 429) {
    limited_ = limited_ || transfer.status == 429;
    auto& shared = *terms_.shared;
    const auto asked = retry_after(transfer.head, unix_seconds());
    const auto now = shared.sources.now();
    pause = wait_before_next({operation_.is_write(), attempts_, terms_.options.max_retries, deadline_, asked}, transfer,
                             now, shared.sources.chance());
    if (transfer.status == 429) {
      shared.throttle.hold_until(now + std::min(pause.value_or(asked.value_or(first_backoff)), longest_wait));
    }
  }
  if (!pause) {
    transfer_ = std::move(transfer);
    return finish();
  }
  if (hooks_ != nullptr) {
    auto attempt = about(&transfer);
    attempt.wait = *pause;
    tell(*hooks_, &Hooks::on_retry, attempt);
  }
  ++attempts_;
  wait(*pause, &Exchange::attempt);
}

void Exchange::stop(std::optional<Engine::Timer>& timer) noexcept {
  if (timer) engine_.stop(*std::exchange(timer, std::nullopt));
}

void Exchange::expire_at(Deadline deadline) {
  stop(clock_);
  if (done_) return;
  deadline_ = deadline;
  if (!deadline) return;
  clock_ = engine_.at(*deadline, [this] {
    clock_.reset();
    guarded([this] { expire(); });
  });
}

void Exchange::expire() {
  const auto left = cancel();
  left_ = left;
  Transfer transfer;
  transfer.failure = Failure::timeout;
  transfer.reason = "no answer in time";
  transfer.sent = left.sent;
  transfer.sent_at = left.sent_at;
  if (hooks_ != nullptr) tell(*hooks_, &Hooks::on_response, about(&transfer));
  transfer_ = std::move(transfer);
  finish();
}

void Exchange::finish() noexcept {
  done_ = true;
  stop(clock_);
  // The last step: whoever is told may destroy this.
  if (const auto done = std::exchange(when_done_, nullptr)) done();
}

Answer Exchange::answer() {
  if (failed_) std::rethrow_exception(failed_);
  return complete_answer(request(), *std::exchange(transfer_, std::nullopt));
}

void Exchange::throw_if_sent() {
  if (!done_ && running_ != nullptr) left_ = cancel();
  const bool refused = status_ != 0 && rule_of(status_).outcome == Outcome::refused;
  if (operation_.is_write() && left_.sent && !refused) throw_no_memory_after_send(request(), status_, left_.sent_at);
}

Exchange::Left Exchange::cancel() noexcept {
  Left left;
  if (running_ != nullptr) left.sent = engine_.cancel(std::exchange(running_, nullptr), &left.sent_at);
  stop(waiting_);
  stop(clock_);
  return left;
}

}  // namespace billcore::detail
