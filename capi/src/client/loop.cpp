// Loops: calls that the caller drives.
#include "billcore/loop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/internal.hpp"
#include "client/charge_search.hpp"
#include "client/handles.hpp"
#include "client/operation.hpp"
#include "shared/convert.hpp"

using namespace billcore::capi;
using billcore::AsyncClient;
using billcore::CallOptions;
using billcore::Completed;
using billcore::Error;
using billcore::ErrorCode;
namespace internal = billcore::internal;

namespace {

constexpr auto slice = std::chrono::milliseconds(2);  // of cancelling; see Engine::process() for the rest

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

}  // namespace

namespace billcore::capi {

/// A list that is read on a loop. The list and a fetch own it, so that the list may be freed during a fetch.
struct ListOnLoop {
  ListOnLoop(billcore_loop& reader, internal::Flow list, const AsyncClient& client)
      : loop(&reader), flow(std::move(list)) {
    pages.emplace(client, flow);
  }
  billcore_loop* loop;  // nullptr once the loop was freed; `pages` is then empty
  internal::Flow flow;
  std::optional<internal::LoopPages> pages;
  bool is_fetching = false;
};

}  // namespace billcore::capi

struct billcore_loop {
  static constexpr const char* name = "billcore_loop";
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
    client.reset();
  }
  billcore_loop(const billcore_loop&) = delete;
  billcore_loop& operator=(const billcore_loop&) = delete;

  /// Starts a call; throws if it has not begun.
  billcore_ticket start(std::unique_ptr<LoopCall> call) {
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
  void add_ended(LoopCall& call) noexcept {
    (call.has_done() ? to_tell : to_take).add(call);
    if (!is_processing) internal::wake(*client);
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
  [[nodiscard]] std::unique_ptr<LoopCall> extract(const LoopCall& call) noexcept {
    return std::move(calls.extract(call.ticket).mapped());
  }
  void require_ours() const {
    if (internal::is_ours(*client)) return;
    throw Error(ErrorCode::config, "this process was forked from the one that made the loop: make a loop here");
  }

  std::optional<AsyncClient> client;  // empty while the loop is being destroyed
  std::unordered_map<billcore_ticket, std::unique_ptr<LoopCall>> calls;
  EndedCalls to_tell;
  EndedCalls to_take;
  std::vector<std::weak_ptr<ListOnLoop>> lists;
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
    const auto until = std::chrono::steady_clock::now() + slice;
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
      internal::wake(*client);
      return false;
    }
  }
  // A call that was posted since cancel_posted() stays for the next process(), and client->process() may have read its
  // wake-up.
  void wake_for_posted() noexcept {
    if (!internal::is_ours(*client)) return;  // a hook has forked, perhaps while another thread had the lock
    const std::lock_guard lock(posting);
    if (!posted.empty()) internal::wake(*client);
  }
  // Tells the ends of the calls that have ended by now. A callback may start calls that end at once, free the loop, or
  // fork: a forked child must not tell an end that its parent tells.
  void tell_ended() noexcept {
    auto ended = std::exchange(to_tell, {});
    while (!is_freed && internal::is_ours(*client)) {
      LoopCall* const call = ended.take();
      if (call == nullptr) return;
      extract(*call)->tell();
    }
  }
};

namespace {

template <typename Read>
void LoopCall::end(Read read) noexcept {
  static_cast<void>(billcore::capi::call(&failure_, [&] { result_ = read(); }));
  has_ended_ = true;
  loop.add_ended(*this);
}

/// A use of a loop. Throws if another thread is within the loop, or if it cannot be used in this process.
class Turn {
 public:
  explicit Turn(billcore_loop* loop) : loop_(handle(loop)) {
    if (!loop_.is_freed) loop_.require_ours();
    std::thread::id none;
    const auto here = std::this_thread::get_id();
    if (!loop_.user.compare_exchange_strong(none, here) && none != here)
      refuse("two threads use the loop at once: lock around each use, or make a loop for each thread");
    ++loop_.depth;
    if (!loop_.is_freed) return;
    leave();
    refuse("the loop was freed");
  }
  ~Turn() { leave(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  billcore_loop* operator->() const noexcept { return &loop_; }
  billcore_loop& operator*() const noexcept { return loop_; }
  [[nodiscard]] const AsyncClient& client() const noexcept { return *loop_.client; }

 private:
  void leave() noexcept {
    if (--loop_.depth > 0) return;
    loop_.user = std::thread::id();
    if (loop_.is_freed) delete &loop_;
  }
  billcore_loop& loop_;
};

class OperationCall final : public LoopCall {
 public:
  OperationCall(billcore_loop& of, Then then, billcore_operation* operation, const CallOptions& options)
      : LoopCall(of, std::move(then)), operation_(operation), options_(options), kind_(result_of(operation)) {
    if (kind_ == BILLCORE_RESULT_RESPONSE) {
      response_.emplace();
    } else if (kind_ != BILLCORE_RESULT_NONE) {
      resource_.emplace();
    }
  }

  void begin() override {
    auto used = use(operation_);
    raise_on_error_ = used.raise_on_error;
    id_ = loop.client->start(std::move(used.request), options_,
                             [this](Completed& completed) { end([&] { return read(completed); }); });
  }

 private:
  billcore_result* read(Completed& completed) {
    switch (kind_) {
      case BILLCORE_RESULT_NONE:
        static_cast<void>(completed.response());
        return nullptr;
      case BILLCORE_RESULT_RESPONSE:
        return response_->make(completed.response(raise_on_error_));
      default:
        return resource_->make(completed.resource(), kind_);
    }
  }
  std::optional<Error> give_up() override { return loop.client->cancel(id_).error; }

  billcore_operation* operation_;  // this and options_ are only used in begin()
  const CallOptions& options_;
  const billcore_result_kind kind_;
  bool raise_on_error_ = true;
  AsyncClient::CallId id_ = 0;
  std::optional<Reserved<billcore_resource>> resource_;
  std::optional<Reserved<billcore_response>> response_;
};

class SearchCall final : public LoopCall {
 public:
  SearchCall(billcore_loop& of, Then then, billcore::ChargeSearch search, const CallOptions& options)
      : LoopCall(of, std::move(then)), search_(std::move(search)), options_(options) {}

  void begin() override {
    search_.limit(internal::timeout(*loop.client, options_));
    send(*search_.next());
  }

 private:
  void send(billcore::Operation page) {
    options_.timeout = search_.time_left();
    id_ = loop.client->start(std::move(page), options_, [this](Completed& completed) { take(completed); });
  }
  void take(Completed& completed) noexcept {
    try {
      search_.take(completed);
      if (auto page = search_.next()) return send(*std::move(page));
    } catch (...) {
      return end([]() -> billcore_result* { throw; });
    }
    end([this]() -> billcore_result* { return std::make_unique<billcore_page>(search_.result()).release(); });
  }
  std::optional<Error> give_up() override { return loop.client->cancel(id_).error; }

  billcore::ChargeSearch search_;
  CallOptions options_;
  AsyncClient::CallId id_ = 0;
};

class FetchCall final : public LoopCall {
 public:
  FetchCall(billcore_loop& of, Then then, std::shared_ptr<ListOnLoop> list)
      : LoopCall(of, std::move(then)), list_(std::move(list)) {
    list_->is_fetching = true;
  }
  ~FetchCall() override { list_->is_fetching = false; }

  void begin() override { advance(); }

 private:
  void advance() noexcept {
    using billcore::detail::Step;
    try {
      auto& flow = *list_->flow;
      auto step = Step::taken;
      while (step == Step::taken && !flow.core().buffered()) step = flow.advance();
      if (step == Step::pending) return list_->pages->wait([this] { advance(); });
    } catch (...) {
      return end([]() -> billcore_result* { throw; });
    }
    end([]() -> billcore_result* { return nullptr; });
  }
  std::optional<Error> give_up() override {
    list_->pages->cancel();
    return list_->pages->interruption();
  }

  std::shared_ptr<ListOnLoop> list_;
};

LoopCall::Then then_of(billcore_done done, void* context, billcore_release release) {
  const std::shared_ptr<void> none;
  return {done, release == nullptr ? std::shared_ptr<void>(none, context) : owned(context, release)};
}

/// Starts the call that `make` makes.
template <typename Make>
billcore_status start(billcore_loop* loop, billcore_done done, void* context, billcore_release release, Make make,
                      billcore_ticket* ticket, billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        auto then = then_of(done, context, release);
        const Turn turn(loop);
        const auto started = turn->start(make(turn, std::move(then)));
        if (ticket != nullptr) *ticket = started;
      },
      Maybe<billcore_ticket>{ticket});
}

template <typename Make>
billcore_status start_search(billcore_loop* loop, Make make, const billcore_call_options* call, billcore_done done,
                             void* context, billcore_release release, billcore_ticket* ticket,
                             billcore_error** err) noexcept {
  return start(
      loop, done, context, release,
      [&](const Turn& turn, LoopCall::Then then) {
        return std::make_unique<SearchCall>(*turn, std::move(then), make(), call_options_of(call));
      },
      ticket, err);
}

std::shared_ptr<ListOnLoop> list_on(const Turn& turn, billcore_list& list) {
  auto& on = list.on_loop;
  if (on != nullptr && on->loop == &*turn) return on;
  if (on != nullptr && on->loop != nullptr) refuse("the list is read on another loop");
  auto made = std::make_shared<ListOnLoop>(*turn, internal::Access::flow(list.view), turn.client());
  std::erase_if(turn->lists, [](const auto& each) { return each.expired(); });
  turn->lists.push_back(made);
  return on = std::move(made);
}

}  // namespace

billcore_status billcore_loop_new(const billcore_client* client, billcore_loop** out, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto& self = handle(client).view;
        internal::require_open(self);
        *out = new billcore_loop(self);
      },
      out);
}

void billcore_loop_free(billcore_loop* loop) {
  if (loop == nullptr) return;
  const auto user = loop->user.load();
  const bool is_used =
      user == std::this_thread::get_id() || (user != std::thread::id() && internal::is_ours(*loop->client));
  if (is_used) {
    loop->is_freed = true;
  } else {
    delete loop;
  }
}

int billcore_loop_descriptor(const billcore_loop* loop) { return loop == nullptr ? -1 : loop->client->descriptor(); }

billcore_status billcore_loop_process(billcore_loop* loop, bool* more, billcore_error** err) {
  return call(
      err,
      [&] {
        const Turn turn(loop);
        if (turn->depth > 1) refuse("a callback called billcore_loop_process of its own loop: return instead");
        turn->process();
        turn->require_ours();  // a callback may have forked
        if (more != nullptr) *more = !turn->is_freed && internal::is_ready(turn.client());
      },
      Maybe<bool>{more});
}

billcore_status billcore_loop_start(billcore_loop* loop, billcore_operation* operation,
                                    const billcore_call_options* call, billcore_done done, void* context,
                                    billcore_release release, billcore_ticket* ticket, billcore_error** err) {
  return start(
      loop, done, context, release,
      [&](const Turn& turn, LoopCall::Then then) {
        const auto& options = call_options_of(call);
        internal::require_startable(turn.client(), options);  // what is refused here leaves a write unused
        return std::make_unique<OperationCall>(*turn, std::move(then), operation, options);
      },
      ticket, err);
}

billcore_status billcore_loop_fetch(billcore_loop* loop, billcore_list* list, billcore_done done, void* context,
                                    billcore_release release, billcore_ticket* ticket, billcore_error** err) {
  return start(
      loop, done, context, release,
      [&](const Turn& turn, LoopCall::Then then) {
        auto on = list_on(turn, handle(list));
        if (on->is_fetching) refuse("the list has a fetch whose end was not taken: one at a time");
        return std::make_unique<FetchCall>(*turn, std::move(then), std::move(on));
      },
      ticket, err);
}

billcore_status billcore_loop_find_charges(billcore_loop* loop, const billcore_error* charge,
                                           const billcore_charge_search* search, const billcore_call_options* call,
                                           billcore_done done, void* context, billcore_release release,
                                           billcore_ticket* ticket, billcore_error** err) {
  return start_search(
      loop, [&] { return search_of(charge, search); }, call, done, context, release, ticket, err);
}

billcore_status billcore_loop_find_charges_since(billcore_loop* loop, billcore_str id, int64_t unix_micros,
                                                 const billcore_charge_search* search,
                                                 const billcore_call_options* call, billcore_done done, void* context,
                                                 billcore_release release, billcore_ticket* ticket,
                                                 billcore_error** err) {
  return start_search(
      loop, [&] { return search_since(id, unix_micros, search); }, call, done, context, release, ticket, err);
}

billcore_status billcore_loop_cancel(billcore_loop* loop, billcore_ticket ticket, billcore_error** err) {
  return call(err, [&] {
    auto& self = handle(loop);
    self.require_ours();
    {
      const std::lock_guard lock(self.posting);
      self.posted.push_back(ticket);
    }
    internal::wake(*self.client);
  });
}

billcore_status billcore_loop_next(billcore_loop* loop, billcore_ticket* ticket, billcore_result** result,
                                   billcore_error** failure, billcore_error** err) {
  return call(
      err,
      [&] {
        const Turn turn(loop);
        LoopCall* const ended = turn->to_take.take();
        if (ended == nullptr) return billcore_status{BILLCORE_DONE};
        const auto taken = turn->extract(*ended);
        *ticket = taken->ticket;
        taken->take(result, failure);
        return billcore_status{BILLCORE_OK};
      },
      ticket, result, failure);
}

size_t billcore_loop_running(const billcore_loop* loop) { return loop == nullptr ? 0 : loop->calls.size(); }
