// The asyncio side of AsyncClient: one LoopEngine for each event loop.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "billcore/internal.hpp"
#include "call/job.hpp"

namespace billcore::python {

class LoopEngine;

/// An operation that an awaited job has started; shared by the job's awaitable and the loop's engine.
struct PendingCall {
  std::shared_ptr<Job> job = {};
  py::object future = {};  // an asyncio.Future that only resumes the task; its result is None
  AsyncClient::CallId id = 0;
  std::shared_ptr<internal::LoopWait> wait = {};  // what the call waits for; null if the call sends an operation
  bool write = false;
  bool ended = false;
  bool given_up = false;  // the call is no longer awaited, but could not be cancelled yet
  std::exception_ptr error = {};
  std::shared_ptr<PendingCall> next = {};  // the next call in EndedCalls
};

/// Logs the result of a write that had already ended when its caller was cancelled.
void log_lost(const PendingCall& call) noexcept;

/// A queue of finished calls. Adding a call allocates no memory, so it cannot fail.
class EndedCalls {
 public:
  EndedCalls() = default;
  ~EndedCalls() {
    while (take() != nullptr) {
    }
  }
  EndedCalls(const EndedCalls&) = delete;
  EndedCalls& operator=(const EndedCalls&) = delete;

  void add(const std::shared_ptr<PendingCall>& call) noexcept {
    call->ended = true;
    (last_ == nullptr ? first_ : last_->next) = call;
    last_ = call.get();
  }
  /// Removes and returns the first call; null if there is none.
  [[nodiscard]] std::shared_ptr<PendingCall> take() noexcept {
    auto call = std::move(first_);
    if (call != nullptr) first_ = std::move(call->next);
    if (first_ == nullptr) last_ = nullptr;
    return call;
  }

 private:
  std::shared_ptr<PendingCall> first_;
  PendingCall* last_ = nullptr;
};

/// The connections of one event loop. The caller of each function must hold the GIL and, except for cancel(),
/// detach() and close(), run on the loop's thread.
///
/// The loop owns the engine through the reader that watch() adds. When the loop is closed or collected, it drops the
/// reader; this closes the connections and abandons unfinished calls.
class LoopEngine : public std::enable_shared_from_this<LoopEngine> {
 public:
  LoopEngine(const Client& client, const py::object& loop);
  ~LoopEngine() = default;
  LoopEngine(const LoopEngine&) = delete;
  LoopEngine& operator=(const LoopEngine&) = delete;

  [[nodiscard]] bool is_of(py::handle loop) const;
  [[nodiscard]] std::shared_ptr<PendingCall> begin(const Client& client, py::handle loop, Operation operation,
                                                   const std::shared_ptr<Job>& job);
  /// Starts to wait for the next page of a list or the next record of a get_many(); the returned PendingCall ends when it
  /// has arrived or failed.
  [[nodiscard]] std::shared_ptr<PendingCall> wait(std::shared_ptr<internal::LoopWait> what, py::handle loop,
                                                  const std::shared_ptr<Job>& job);
  [[nodiscard]] std::shared_ptr<internal::LoopPages> pages(const Client& client, internal::Flow list,
                                                           ListOperation operation, const CallOptions& options);
  [[nodiscard]] std::shared_ptr<internal::LoopMany> many(const Client& client, const ManyOptions& options,
                                                         const CallOptions& call);
  /// Drops the pages of a list, or the calls of a get_many(). May be called from any thread.
  void detach(std::shared_ptr<internal::LoopWait> what) noexcept;
  /// Cancels an operation. If the operation is a write that may have been sent, returns a note for the exception,
  /// else an empty text.
  std::string cancel(PendingCall& call);
  /// Cancels an operation that is no longer awaited. May be called from any thread.
  void detach(PendingCall& call) noexcept;
  /// Closes the connections after the operations in flight have finished.
  void close() noexcept;

 private:
  template <void (LoopEngine::*step)()>
  [[nodiscard]] py::object callback();
  void watch(py::handle loop);
  [[nodiscard]] std::shared_ptr<PendingCall> new_call(py::handle loop, const std::shared_ptr<Job>& job, bool write);
  template <typename Start>
  void start_held(const PendingCall& call, Start start);
  [[nodiscard]] bool may_touch(py::handle loop) const;
  AsyncClient::Cancelled cancel_now(PendingCall& call);
  void cancel_later(PendingCall& call);
  void finish(const PendingCall& call);
  void hold(const PendingCall& call, bool kept);
  void process();
  void cancel_detached();
  void finish_closing();
  void close_here();
  [[nodiscard]] py::object loop() const;
  // Runs `f` and passes its Python errors to sys.unraisablehook. Does nothing in a forked child, because the
  // connections belong to the parent.
  template <typename F>
  void quietly(F f) noexcept;

  AsyncClient client_;
  py::object loop_;  // weak reference to the loop
  bool watched_ = false;
  bool closing_ = false;
  bool processing_ = false;
  py::object waiting_;  // weak reference to the set that keeps the futures of waiting tasks alive; the loop owns it
  EndedCalls ended_;
  std::vector<PendingCall> detached_calls_;                 // calls that must still be cancelled; `job` is null
  std::vector<std::shared_ptr<internal::LoopWait>> waits_;  // of the lists and get_many() being read
  std::vector<std::shared_ptr<internal::LoopWait>> detached_waits_;
};

/// The engines of an AsyncClient and of the clients made from it by with_options(). Requires the GIL.
class Loops {
 public:
  Loops() = default;
  ~Loops() { close(); }
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  /// Returns the engine of `loop`; creates it on first use.
  [[nodiscard]] std::shared_ptr<LoopEngine> of(py::handle loop, const Client& client);
  void close() noexcept;

 private:
  std::vector<std::weak_ptr<LoopEngine>> engines_;
};

/// Returns the running event loop; raises RuntimeError if there is none.
[[nodiscard]] py::object running_loop();

}  // namespace billcore::python
