// asyncio: an engine for each event loop.
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

/// An operation that an awaited job has begun; shared by the job's awaitable and the loop's engine.
struct PendingCall {
  std::shared_ptr<Job> job = {};
  py::object future = {};  // of asyncio; it only says "go on"
  AsyncClient::CallId id = 0;
  std::shared_ptr<internal::LoopPages> pages = {};  // of a list, in place of an operation
  bool write = false;
  bool ended = false;
  std::exception_ptr error = {};
  std::shared_ptr<PendingCall> next = {};  // that ended after it
};

/// Operations that have ended, in that order. To add one needs no memory: its end must not be lost.
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
  /// The first; null when there is none.
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

/// A job that says itself what it waits for in an event loop, such as one that reads a list. Others send one operation.
class LoopJob {
 public:
  LoopJob() = default;
  LoopJob(const LoopJob&) = delete;
  LoopJob& operator=(const LoopJob&) = delete;
  /// Begins what is to be waited for; null when the result is at hand. self: the same job.
  [[nodiscard]] virtual std::shared_ptr<PendingCall> begin(LoopEngine& engine, py::handle loop,
                                                           const std::shared_ptr<Job>& self) = 0;

 protected:
  ~LoopJob() = default;
};

/// The connections of one event loop. Everything here needs the GIL, and (but for detach()) the loop's thread.
///
/// The loop owns it, by the reader that watch() adds: a loop that is closed, or collected, drops its readers, and thereby
/// closes the connections. Calls that have not ended then are given up.
class LoopEngine : public std::enable_shared_from_this<LoopEngine> {
 public:
  LoopEngine(const Client& client, const py::object& loop);
  ~LoopEngine() = default;
  LoopEngine(const LoopEngine&) = delete;
  LoopEngine& operator=(const LoopEngine&) = delete;

  [[nodiscard]] bool is_of(py::handle loop) const;
  [[nodiscard]] std::shared_ptr<PendingCall> begin(const Client& client, py::handle loop, Operation operation,
                                                   const std::shared_ptr<Job>& job);
  /// Waits for the page that a list wants next.
  [[nodiscard]] std::shared_ptr<PendingCall> wait(std::shared_ptr<internal::LoopPages> pages, py::handle loop,
                                                  const std::shared_ptr<Job>& job);
  [[nodiscard]] std::shared_ptr<internal::LoopPages> pages(const Client& client, internal::Flow list,
                                                           ListOperation operation, const CallOptions& options);
  /// Drops the pages of a list, from any thread.
  void detach(std::shared_ptr<internal::LoopPages> pages) noexcept;
  /// Ends an operation. What is to be told of it, if it was a write that had left; else empty.
  std::string cancel(PendingCall& call);
  /// The same from any thread, when nobody waits for it any more.
  void detach(const PendingCall& call) noexcept;
  /// The connections are not wanted any more; operations under way finish.
  void close() noexcept;

 private:
  template <void (LoopEngine::*step)()>
  [[nodiscard]] py::object callback();
  void watch(py::handle loop);
  [[nodiscard]] std::shared_ptr<PendingCall> new_call(py::handle loop, const std::shared_ptr<Job>& job);
  template <typename Start>
  void start_held(const PendingCall& call, Start start);
  void cancel_now(const PendingCall& call);
  void finish(const PendingCall& call);
  void hold(const PendingCall& call, bool kept);
  void process();
  void cancel_detached();
  void finish_closing();
  void close_here();
  [[nodiscard]] py::object loop() const;
  // Runs `f`, which nobody could be told of when it fails; not in the child of a fork, where all of this is the parent's.
  template <typename F>
  void quietly(F f) noexcept;

  int pid_;

  AsyncClient client_;
  py::object loop_;  // weak
  bool watched_ = false;
  bool closing_ = false;
  bool processing_ = false;
  py::object waiting_;  // weak: the set of futures that the loop holds, so that nobody else needs to keep their tasks
  EndedCalls ended_;
  std::vector<PendingCall> detached_calls_;                  // without their jobs
  std::vector<std::shared_ptr<internal::LoopPages>> pages_;  // of lists that are read
  std::vector<std::shared_ptr<internal::LoopPages>> detached_pages_;
};

/// The engines behind an AsyncClient and those made from it by with_options(). Needs the GIL.
class Loops final : public Waiter {
 public:
  Loops() = default;
  ~Loops() override { close(); }
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  /// That of the running loop, made when there is none yet.
  [[nodiscard]] std::shared_ptr<LoopEngine> of(py::handle loop, const Client& client);
  [[nodiscard]] py::object wait(const Sender& sender, std::shared_ptr<Job> job, const char* name) override;
  void close() noexcept;

 private:
  std::vector<std::weak_ptr<LoopEngine>> engines_;
};

/// The running event loop; RuntimeError without one.
[[nodiscard]] py::object running_loop();

}  // namespace billcore::python
