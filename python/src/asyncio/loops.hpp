// asyncio: an engine for each event loop.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "billcore/async_client.hpp"
#include "call/job.hpp"

namespace billcore::python {

/// An operation that an awaited job has begun; shared by the job's awaitable and the loop's engine.
struct Begun {
  std::shared_ptr<Job> job = {};
  py::object future = {};  // of asyncio; it only says "go on"
  AsyncClient::Ticket ticket = 0;
  std::shared_ptr<AsyncPages> pages = {};  // of a list, in place of an operation
  bool write = false;
  bool ended = false;
  std::exception_ptr error = {};
  std::shared_ptr<Begun> next = {};  // that ended after it
};

/// Operations that have ended, in that order. To add one needs no memory: its end must not be lost.
class Ended {
 public:
  Ended() = default;
  ~Ended() {
    while (take() != nullptr) {
    }
  }
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;

  void add(const std::shared_ptr<Begun>& begun) noexcept {
    begun->ended = true;
    (last_ == nullptr ? first_ : last_->next) = begun;
    last_ = begun.get();
  }
  /// The first; null when there is none.
  [[nodiscard]] std::shared_ptr<Begun> take() noexcept {
    auto begun = std::move(first_);
    if (begun != nullptr) first_ = std::move(begun->next);
    if (first_ == nullptr) last_ = nullptr;
    return begun;
  }

 private:
  std::shared_ptr<Begun> first_;
  Begun* last_ = nullptr;
};

/// The connections of one event loop. Everything here needs the GIL, and (but for abandon()) the loop's thread.
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
  [[nodiscard]] std::shared_ptr<Begun> begin(const Client& client, py::handle loop, Operation operation,
                                             const std::shared_ptr<Job>& job);
  /// Waits for the page that a list wants next.
  [[nodiscard]] std::shared_ptr<Begun> wait(std::shared_ptr<AsyncPages> pages, py::handle loop,
                                            const std::shared_ptr<Job>& job);
  [[nodiscard]] std::shared_ptr<AsyncPages> pages(const Client& client, std::shared_ptr<detail::PagerCore> pager,
                                                  ListOperation list, const CallOptions& options);
  /// Drops the pages of a list, from any thread.
  void bury(std::shared_ptr<AsyncPages> pages) noexcept;
  /// Ends an operation. What is to be told of it, if it was a write that had left; else empty.
  std::string cancel(Begun& begun);
  /// The same from any thread, when nobody waits for it any more.
  void abandon(const Begun& begun) noexcept;
  /// The connections are not wanted any more; operations under way finish.
  void close() noexcept;

 private:
  template <void (LoopEngine::*step)()>
  [[nodiscard]] py::object callback();
  void watch(py::handle loop);
  [[nodiscard]] std::shared_ptr<Begun> new_begun(py::handle loop, const std::shared_ptr<Job>& job);
  template <typename Start>
  void start_held(const Begun& begun, Start start);
  void give_up(const Begun& begun);
  void tell(const Begun& begun);
  void hold(const Begun& begun, bool kept);
  void process();
  void cancel_abandoned();
  void end_if_closing();
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
  Ended ended_;
  std::vector<Begun> abandoned_;                    // without their jobs
  std::vector<std::shared_ptr<AsyncPages>> pages_;  // of lists that are read
  std::vector<std::shared_ptr<AsyncPages>> buried_;
};

/// The engines behind an AsyncClient and those made from it by with_options(). Needs the GIL.
class Loops {
 public:
  Loops() = default;
  ~Loops() { close(); }
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  /// That of the running loop, made when there is none yet.
  [[nodiscard]] std::shared_ptr<LoopEngine> of(py::handle loop, const Client& client);
  void close() noexcept;

 private:
  std::vector<std::weak_ptr<LoopEngine>> engines_;
};

/// The running event loop; RuntimeError without one.
[[nodiscard]] py::object running_loop();

}  // namespace billcore::python
