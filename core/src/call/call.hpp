// One call with all its attempts, from what is to be sent to the complete answer: a machine of steps over an engine. Nothing here
// waits: a blocking call (session.cpp) drives the engine until it is done, an event loop (client/loop.cpp) is told. Internal.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "billcore/operation.hpp"
#include "billcore/options.hpp"
#include "call/answer.hpp"
#include "call/retry.hpp"
#include "http/pool.hpp"

namespace billcore::detail {

/// What clients over the same connections share. Threads: any.
struct ClientState {
  EnginePool pool;
  Throttle throttle;
  RetryEnvironment environment;
};

/// What all calls of a client go by. Immutable.
struct ClientSettings {
  ClientOptions options;
  std::shared_ptr<const AnswerSettings> answers;
  std::shared_ptr<const RequestHeaders> headers;
  std::shared_ptr<ClientState> state;
};

class Call {
 public:
  /// All of them must outlive it.
  Call(const ClientSettings& settings, Engine& engine, const Operation& operation, Deadline deadline,
       Hooks* hooks) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Begins. `done` is called once, from within the engine's drive() or process() or from here, unless the call is
  /// cancelled; it may destroy the call.
  void start(std::function<void()> done) noexcept;
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// From now on this is the deadline, in place of the one before (and of the engine's own, which a request has from its
  /// start): for requests that are made ahead of their time.
  void expire_at(Deadline deadline);
  /// Was it told to come later (429)?
  [[nodiscard]] bool was_limited() const noexcept { return limited_; }
  /// The complete answer, whatever its status; throws what came in its place. Once, when done.
  [[nodiscard]] Answer answer();
  [[nodiscard]] RequestInfo request() const noexcept;
  /// In place of std::bad_alloc, wherever memory ran out: nothing for a call that certainly had no effect; of a write that was
  /// sent Error(outcome_unknown). Ends the call.
  void throw_if_sent();
  /// Runs `read`, and what is thrown for a lack of memory says whether a write was sent.
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
    bool sent = false;  // the request had begun to leave
    Instant sent_at;
  };
  /// Gives the call up: see Engine::cancel(). The destructor drops it.
  SendState cancel() noexcept;

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
  // Runs a step; what it throws ends the call.
  template <typename Step>
  void guarded(Step step) noexcept;
  [[nodiscard]] Attempt about(const Transfer* transfer);

  const ClientSettings& settings_;
  Engine& engine_;
  const Operation& operation_;
  Deadline deadline_;
  Hooks* hooks_;
  std::function<void()> when_done_;
  int attempts_ = 1;
  SteadyClock::time_point begun_;
  InFlight* in_flight_ = nullptr;
  std::optional<Engine::Timer> pause_;
  std::optional<Engine::Timer> expiry_;  // of expire_at()
  bool limited_ = false;
  bool done_ = false;
  std::optional<Transfer> transfer_;
  SendState send_state_;  // of the attempt that has ended last
  int status_ = 0;        // of its answer
  std::string shown_id_;  // for hooks
  std::exception_ptr exception_;
};

}  // namespace billcore::detail
