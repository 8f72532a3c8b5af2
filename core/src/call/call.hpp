// One call with all its attempts, from the operation to the complete answer: a state machine on top of an engine.
// A Call never blocks: for a blocking call, session.cpp drives the engine until the Call is done; for an event loop
// (client/loop.cpp) the Call calls back. Internal.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "billcore/operation.hpp"
#include "billcore/options.hpp"
#include "call/answer.hpp"
#include "call/retry.hpp"
#include "call/throttle.hpp"
#include "http/pool.hpp"

namespace billcore::detail {

/// State shared by all clients that use the same connections. Threads: any.
struct ClientState {
  EnginePool pool;
  Throttle throttle;
  RetryEnvironment environment;
};

/// Settings shared by all calls of a client. Immutable.
struct ClientSettings {
  ClientOptions options;
  std::shared_ptr<const AnswerSettings> answers;
  std::shared_ptr<const RequestHeaders> headers;
  std::shared_ptr<ClientState> state;
};

class Call {
 public:
  /// All referenced arguments must outlive the call.
  Call(const ClientSettings& settings, Engine& engine, const Operation& operation, Deadline deadline,
       Hooks* hooks) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Starts the call. `done` is called once, from start() or from the engine's drive() or process(), unless the call is
  /// cancelled. It may destroy the call.
  void start(std::function<void()> done) noexcept;
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// Throws Error(config) in a process that was forked within the call: the engine and the request belong to the
  /// parent.
  void require_ours() const;
  /// Replaces the deadline, for a prefetched page that a reader begins to wait for. A request in flight that was not
  /// sent yet is not sent after the new deadline, but the engine keeps the time-out that the request was started with.
  void expire_at(Deadline deadline);
  /// Whether the service answered any attempt with 429.
  [[nodiscard]] bool was_limited() const noexcept { return limited_; }
  /// The complete answer, whatever its status; throws the call's error if there is no complete answer. Call it once,
  /// when done() is true.
  [[nodiscard]] Answer answer();
  [[nodiscard]] RequestInfo request() const noexcept;
  /// Call when memory ran out: throws Error(outcome_unknown) for a write that was sent and not refused; returns for a
  /// call that certainly had no effect. Ends the call.
  void throw_if_sent();
  /// Runs `read`; turns std::bad_alloc into Error(outcome_unknown) for a write that was sent.
  template <typename Read>
  auto telling_whether_sent(Read read) {
    try {
      return read();
    } catch (const std::bad_alloc&) {
      throw_if_sent();
      throw;
    }
  }

  struct SendState {
    bool sent = false;  // at least part of the request may have left
    SendTime sent_at;
  };
  /// Cancels the call: see Engine::cancel(). The destructor drops the call without a result. cancel() and the
  /// destructor call on_response for an attempt in flight; its failure is `why`, or interrupted.
  SendState cancel(ErrorCode why = ErrorCode::interrupted) noexcept;
  /// Whether a hook of this call is running. The hook must not destroy the call, but may end it.
  [[nodiscard]] bool is_in_hook() const noexcept { return in_hook_; }
  /// Ends the call after the running hook, without a further attempt, with the result known by then.
  void end_after_hook() noexcept { ends_after_hook_ = true; }

 private:
  void attempt();
  void begin();
  void send(bool fresh);
  void on_transfer(Transfer&& transfer) noexcept;
  void settle(Transfer&& transfer);
  void wait(std::chrono::milliseconds length, void (Call::*then)());
  void finish() noexcept;
  void expire();
  void stop(std::optional<Engine::Timer>& timer) noexcept;
  // Ends the request in flight, if any, without its answer. Uses Engine::cancel() if `given_up`, else Engine::detach().
  SendState drop(bool given_up) noexcept;
  // Runs a step; an exception ends the call.
  template <typename Step>
  void guarded(Step step) noexcept;
  // Returns false in a forked child, because engine and attempt belong to the parent.
  [[nodiscard]] bool is_ours() const noexcept { return process_ == settings_.state->pool.process(); }
  // about() is what on_request gets for the current attempt; about_end() is what on_response gets.
  [[nodiscard]] Attempt about() const noexcept;
  [[nodiscard]] Attempt about_end() const noexcept;
  [[nodiscard]] Attempt about_end(const Transfer& transfer) noexcept;
  // tell_end() and tell_given_up() call on_response, unless it was already called for the attempt.
  void tell_end(Attempt attempt) noexcept;
  void tell(void (Hooks::*hook)(const Attempt&), const Attempt& attempt) noexcept;
  void tell_given_up(const SendState& left, ErrorCode why) noexcept;
  void note_request_id(std::string_view head) noexcept;
  [[nodiscard]] std::string_view shown_path() noexcept;

  const ClientSettings& settings_;
  Engine& engine_;
  const Operation& operation_;
  Deadline deadline_;
  Hooks* hooks_;
  std::uint64_t process_;  // see EnginePool::process()
  bool tells_;             // result of Hooks::every_attempt()
  bool open_ = false;      // on_request was called, and on_response not yet
  std::function<void()> when_done_;
  int attempts_ = 1;
  SteadyClock::time_point begun_;
  InFlight* in_flight_ = nullptr;
  std::optional<Engine::Timer> pause_;
  std::optional<Engine::Timer> expiry_;  // set by expire_at()
  bool in_hook_ = false;
  bool ends_after_hook_ = false;
  bool limited_ = false;
  bool done_ = false;
  std::optional<Transfer> transfer_;
  SendState send_state_;    // state of the last finished attempt
  int status_ = 0;          // status of the last finished attempt; 0 without a complete answer
  std::string shown_id_;    // holds the text for Attempt::request_id
  std::string shown_path_;  // holds the text for Attempt::path
  std::exception_ptr exception_;
};

}  // namespace billcore::detail
