// Loops, and the calls that run on them.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/internal.hpp"
#include "billcore/loop.h"
#include "billcore/many.h"
#include "client/handles.hpp"
#include "shared/guard.hpp"

namespace billcore::capi {

/// A call that was started: an operation, a search, or the fetch of a page. The loop owns it until its end is taken.
class LoopCall {
 public:
  struct Then {
    billcore_done done;
    std::shared_ptr<void> context;
  };
  LoopCall(billcore_loop& of, Then then) : loop(of), then_(std::move(then)) {}
  virtual ~LoopCall() {
    billcore_result_free(result_);
    if (failure_ != nullptr && failure_->error) delete failure_;  // not a static one
  }
  LoopCall(const LoopCall&) = delete;
  LoopCall& operator=(const LoopCall&) = delete;

  /// Begins the call; if this function throws, nothing was sent.
  virtual void begin() = 0;
  /// Gives the call up.
  void cancel() noexcept {
    if (has_ended_) return;
    end([this]() -> billcore_result* {
      auto error = give_up();
      if (!error) throw std::bad_alloc();
      throw *std::move(error);
    });
  }

  [[nodiscard]] bool has_done() const noexcept { return then_.done != nullptr; }
  void tell() noexcept {
    try {
      then_.done(then_.context.get(), ticket, std::exchange(result_, nullptr), std::exchange(failure_, nullptr));
    } catch (...) {  // NOLINT(bugprone-empty-catch) a C++ callback threw; there is no caller to report it to
    }
  }
  void take(billcore_result** result, billcore_error** failure) noexcept {
    *result = std::exchange(result_, nullptr);
    *failure = std::exchange(failure_, nullptr);
  }

  billcore_loop& loop;
  billcore_ticket ticket = 0;
  LoopCall* next = nullptr;  // in EndedCalls

 protected:
  /// Ends the call with the result, or with the exception, of `read`.
  template <typename Read>
  void end(Read read) noexcept;

 private:
  /// Gives the call up and returns its error; nullopt if memory ran out.
  virtual std::optional<Error> give_up() = 0;

  Then then_;
  billcore_result* result_ = nullptr;
  billcore_error* failure_ = nullptr;
  bool has_ended_ = false;
};

/// A queue of ended calls. Adding a call needs no memory.
class EndedCalls {
 public:
  void add(LoopCall& call) noexcept {
    (last_ == nullptr ? first_ : last_->next) = &call;
    last_ = &call;
  }
  [[nodiscard]] LoopCall* take() noexcept {
    LoopCall* const taken = first_;
    if (taken != nullptr) first_ = std::exchange(taken->next, nullptr);
    if (first_ == nullptr) last_ = nullptr;
    return taken;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  LoopCall* first_ = nullptr;
  LoopCall* last_ = nullptr;
};

/// A list that is read on a loop. The list and a fetch own it, so that the list may be freed during a fetch.
struct ListOnLoop {
  ListOnLoop(billcore_loop& reader, internal::Flow list, const AsyncClient& client)
      : loop(&reader), flow(std::move(list)) {
    pages.emplace(client, flow);
  }
  /// Cancels the prefetch, unless a fetch waits for one of its pages.
  void stop() noexcept {
    if (pages && !is_fetching) pages->stop();
  }
  billcore_loop* loop;  // nullptr once the loop was freed; `pages` is then empty
  internal::Flow flow;
  std::optional<internal::LoopPages> pages;
  bool is_fetching = false;
};

/// Reads on a loop. Their handle and a wait own them, so that the handle may be freed during a wait.
struct ManyOnLoop {
  ManyOnLoop(billcore_loop& on, const AsyncClient& client, const ManyOptions& options, const CallOptions& call)
      : loop(&on), reads(std::in_place, client, options, call) {}
  billcore_loop* loop;  // nullptr once the loop was freed; `reads` is then empty
  std::optional<internal::LoopMany> reads;
  bool is_waiting = false;
};

}  // namespace billcore::capi

struct billcore_many {
  static constexpr const char* name = "billcore_many";
  // One of the two.
  std::shared_ptr<billcore::detail::BlockingMany> calls = {};
  std::shared_ptr<billcore::capi::ManyOnLoop> on_loop = {};
};

struct billcore_loop {
  static constexpr const char* name = "billcore_loop";
  static constexpr auto cancel_slice = std::chrono::milliseconds(2);  // see Engine::process() for the rest of process()
  explicit billcore_loop(const billcore::Client& from) : client(std::in_place, from) {}
  ~billcore_loop() {
    is_freed = true;  // a hook that the following calls gets an error from the loop's functions
    depth = 1;
    for (const auto& each : lists) {
      if (const auto list = each.lock()) {
        list->pages.reset();
        list->loop = nullptr;
      }
    }
    for (const auto& each : manies) {
      if (const auto many = each.lock()) {
        many->reads.reset();
        many->loop = nullptr;
      }
    }
    client.reset();
  }
  billcore_loop(const billcore_loop&) = delete;
  billcore_loop& operator=(const billcore_loop&) = delete;

  /// Starts a call; throws if it has not begun.
  billcore_ticket start(std::unique_ptr<billcore::capi::LoopCall> call) {
    const auto ticket = ++last_ticket;
    call->ticket = ticket;
    auto& begun = *calls.emplace(ticket, std::move(call)).first->second;
    try {
      begun.begin();
    } catch (...) {
      calls.erase(ticket);
      throw;
    }
    return ticket;
  }
  void add_ended(billcore::capi::LoopCall& call) noexcept {
    (call.has_done() ? to_tell : to_take).add(call);
    if (!is_processing) billcore::internal::wake(*client);
  }
  void process() {
    std::exception_ptr failed;
    is_processing = true;
    if (cancel_posted()) {
      try {
        client->process();
      } catch (...) {
        failed = std::current_exception();
      }
    }
    is_processing = false;
    wake_for_posted();
    tell_ended();
    if (failed) std::rethrow_exception(failed);
  }
  [[nodiscard]] std::unique_ptr<billcore::capi::LoopCall> extract(const billcore::capi::LoopCall& call) noexcept {
    return std::move(calls.extract(call.ticket).mapped());
  }
  void require_ours() const {
    if (billcore::internal::is_ours(*client)) return;
    throw billcore::Error(billcore::ErrorCode::config,
                          "this process was forked from the one that made the loop: make a loop here");
  }

  std::optional<billcore::AsyncClient> client;  // empty while the loop is being destroyed
  std::unordered_map<billcore_ticket, std::unique_ptr<billcore::capi::LoopCall>> calls;
  billcore::capi::EndedCalls to_tell;
  billcore::capi::EndedCalls to_take;
  std::vector<std::weak_ptr<billcore::capi::ListOnLoop>> lists;
  std::vector<std::weak_ptr<billcore::capi::ManyOnLoop>> manies;
  billcore_ticket last_ticket = 0;
  bool is_processing = false;
  bool is_freed = false;                // the loop is freed when the outermost function returns
  std::atomic<std::thread::id> user{};  // the thread within the loop's functions
  int depth = 0;                        // number of the loop's functions within each other on that thread

  std::mutex posting;
  std::vector<billcore_ticket> posted;  // the calls to cancel

 private:
  // Gives up the calls that billcore_loop_cancel has named. Returns false if its time has passed before it was done.
  bool cancel_posted() noexcept {
    const auto until = std::chrono::steady_clock::now() + cancel_slice;
    while (true) {
      billcore_ticket ticket = 0;
      {
        const std::lock_guard lock(posting);
        if (posted.empty()) return true;
        ticket = posted.back();
        posted.pop_back();
      }
      if (const auto found = calls.find(ticket); found != calls.end()) found->second->cancel();
      if (std::chrono::steady_clock::now() < until) continue;
      billcore::internal::wake(*client);
      return false;
    }
  }
  // A call that was posted since cancel_posted() stays for the next process(), and client->process() may have read its
  // wake-up.
  void wake_for_posted() noexcept {
    if (!billcore::internal::is_ours(*client)) return;  // a hook has forked, perhaps while another thread had the lock
    const std::lock_guard lock(posting);
    if (!posted.empty()) billcore::internal::wake(*client);
  }
  // Tells the ends of the calls that have ended by now. A callback may start calls that end at once, free the loop, or
  // fork: a forked child must not tell an end that its parent tells.
  void tell_ended() noexcept {
    auto ended = std::exchange(to_tell, {});
    while (!is_freed && billcore::internal::is_ours(*client)) {
      billcore::capi::LoopCall* const call = ended.take();
      if (call == nullptr) return;
      extract(*call)->tell();
    }
  }
};

namespace billcore::capi {

template <typename Read>
void LoopCall::end(Read read) noexcept {
  static_cast<void>(call(&failure_, [&] { result_ = read(); }));
  has_ended_ = true;
  loop.add_ended(*this);
}

}  // namespace billcore::capi
