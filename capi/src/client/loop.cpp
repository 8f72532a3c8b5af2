// The functions of loops: calls that the caller drives.
#include "billcore/loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/internal.hpp"
#include "client/charge_search.hpp"
#include "client/handles.hpp"
#include "client/loop.hpp"
#include "client/operation.hpp"
#include "shared/convert.hpp"

using namespace billcore::capi;
using billcore::AsyncClient;
using billcore::CallOptions;
using billcore::Completed;
using billcore::Error;
namespace internal = billcore::internal;

namespace {

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

class ManyCall final : public LoopCall {
 public:
  ManyCall(billcore_loop& of, Then then, std::shared_ptr<ManyOnLoop> many)
      : LoopCall(of, std::move(then)), many_(std::move(many)) {
    many_->is_waiting = true;
  }
  ~ManyCall() override { many_->is_waiting = false; }

  void begin() override {
    many_->reads->wait([this] { end([]() -> billcore_result* { return nullptr; }); });
  }

 private:
  std::optional<Error> give_up() override {
    many_->reads->cancel();
    return many_->reads->interruption();
  }

  std::shared_ptr<ManyOnLoop> many_;
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

/// Remembers what must not outlive the loop.
template <typename Part>
void remember(std::vector<std::weak_ptr<Part>>& in, const std::shared_ptr<Part>& part) {
  std::erase_if(in, [](const auto& each) { return each.expired(); });
  in.push_back(part);
}

std::shared_ptr<ListOnLoop> list_on(const Turn& turn, billcore_list& list) {
  auto& on = list.on_loop;
  if (on != nullptr && on->loop == &*turn) return on;
  if (on != nullptr && on->loop != nullptr) refuse("the list is read on another loop");
  auto made = std::make_shared<ListOnLoop>(*turn, internal::Access::flow(list.view), turn.client());
  remember(turn->lists, made);
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

billcore_status billcore_loop_use_client(billcore_loop* loop, const billcore_client* client, billcore_error** err) {
  return call(err, [&] {
    const Turn turn(loop);
    turn->client = internal::beside(handle(client).view, turn.client());
  });
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

billcore_status billcore_loop_many_new(billcore_loop* loop, int32_t concurrency, bool ordered,
                                       const billcore_call_options* call, billcore_many** out, billcore_error** err) {
  return billcore::capi::call(
      err,
      [&] {
        const Turn turn(loop);
        const billcore::ManyOptions options{concurrency, ordered};
        auto made = std::make_shared<ManyOnLoop>(*turn, turn.client(), options, call_options_of(call));
        remember(turn->manies, made);
        *out = new billcore_many{.on_loop = std::move(made)};
      },
      out);
}

billcore_status billcore_loop_many_wait(billcore_loop* loop, billcore_many* many, billcore_done done, void* context,
                                        billcore_release release, billcore_ticket* ticket, billcore_error** err) {
  return start(
      loop, done, context, release,
      [&](const Turn& turn, LoopCall::Then then) {
        const auto& on = handle(many).on_loop;
        if (on == nullptr || on->loop != &*turn) refuse("wait for reads that billcore_loop_many_new made on this loop");
        if (on->is_waiting) refuse("the reads have a wait whose end was not taken: one at a time");
        return std::make_unique<ManyCall>(*turn, std::move(then), on);
      },
      ticket, err);
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
