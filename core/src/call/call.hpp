// The class Call: one call with all its attempts, from the operation to the complete answer. A Call is a state machine
// that sends its requests through an engine. A Call never blocks. For a blocking call, session.cpp drives the engine
// until the Call is done. For an event loop (client/loop.cpp), the Call invokes a callback when it is done. Internal.
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
  /// The arguments passed by reference must outlive the call.
  Call(const ClientSettings& settings, Engine& engine, const Operation& operation, Deadline deadline,
       Hooks* hooks) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Starts the call. `done` is called once, from start() or from the engine's drive() or process(), unless the call is
  /// cancelled. `done` may destroy the call.
  void start(std::function<void()> done) noexcept;
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// Throws Error(config) in a process that was forked during the call: the engine and the request belong to the
  /// parent.
  void require_ours() const;
  /// Replaces the deadline; used when a reader begins to wait for a prefetched page. The call ends at the new deadline;
  /// if its request still waits for a connection then, the request is never sent. libcurl's time-out for the request in
  /// flight stays as it is.
  void expire_at(Deadline deadline);
  /// Whether the service answered any attempt with 429.
  [[nodiscard]] bool was_limited() const noexcept { return limited_; }
  /// The complete answer, whatever its status; throws the call's error if there is no complete answer. Call answer()
  /// only once, when done() is true.
  [[nodiscard]] Answer answer();
  [[nodiscard]] RequestInfo request() const noexcept;
  /// Ends the call after memory ran out. Throws Error(outcome_unknown) if the call was a write that was sent and not
  /// refused. If the call certainly had no effect, the function returns.
  void throw_if_sent();
  /// Runs `read`. If `read` throws std::bad_alloc and the call is a write that was sent, throws Error(outcome_unknown)
  /// instead.
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
    bool sent = false;  // at least a part of the request may have been sent
    SendTime sent_at;
  };
  /// Cancels the call; see Engine::cancel(). If an attempt is in flight, calls on_response with the failure `why`.
  /// The destructor also ends the call, but with Engine::detach() instead of Engine::cancel() and always with the
  /// failure `interrupted`.
  SendState cancel(ErrorCode why = ErrorCode::interrupted) noexcept;
  /// Whether a hook of this call is running. A hook must not destroy its call, but may end it with end_after_hook().
  [[nodiscard]] bool is_in_hook() const noexcept { return in_hook_; }
  /// Makes the call end when the running hook returns, without a further attempt and with the result known at that
  /// time.
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
  // Runs one step of the call. If the step throws an exception, the call ends with that exception.
  template <typename Step>
  void guarded(Step step) noexcept;
  // Returns false in a forked child, because engine and attempt belong to the parent.
  [[nodiscard]] bool is_ours() const noexcept { return process_ == settings_.state->pool.process(); }
  // These functions describe the current attempt: about() for on_request, about_end() for on_response.
  [[nodiscard]] Attempt about() const noexcept;
  [[nodiscard]] Attempt about_end() const noexcept;
  [[nodiscard]] Attempt about_end(const Transfer& transfer) noexcept;
  // tell_end() and tell_given_up() call on_response, unless on_response was already called for the attempt.
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
  bool tells_;             // the call has hooks, and their every_attempt() returns true
  bool open_ = false;      // on_response must still be called for the attempt
  std::function<void()> when_done_;
  int attempts_ = 1;
  SteadyClock::time_point begun_;
  InFlight* in_flight_ = nullptr;
  std::optional<Engine::Timer> pause_;
  std::optional<Engine::Timer> expiry_;  // timer of the deadline that expire_at() set
  bool in_hook_ = false;
  bool ends_after_hook_ = false;
  bool limited_ = false;
  bool refused_ = false;  // HTTP/2 refused the last attempt
  bool done_ = false;
  std::optional<Transfer> transfer_;
  SendState send_state_;    // state of the last finished attempt
  int status_ = 0;          // status of the last finished attempt; 0 without a complete answer
  std::string shown_id_;    // holds the text for Attempt::request_id
  std::string shown_path_;  // holds the text for Attempt::path
  std::exception_ptr exception_;
};

}  // namespace billcore::detail
