#include "caller.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

#include "billcore/internal.hpp"
#include "billcore/pager.hpp"
#include "paging/blocking_source.hpp"
#include "paging/page_flow.hpp"
#include "support.hpp"

namespace billcore::fuzz {
namespace {

using std::chrono::milliseconds;

constexpr int most_pages = 6;
constexpr int most_calls = 8;
constexpr std::uint64_t most_turns = 20'000;
constexpr std::string_view kinds = "gcxudwlqQ";
constexpr std::string_view writes = "cxudwQ";

void give_headers(Call& call, const ResponseInfo& info) {
  call.status = info.status();
  for (const auto& [name, value] : info.headers()) {
    require(value.find(peer_key) == std::string::npos, "no header shows the key");
    call.result.append("\n").append(name).append(":").append(value);
  }
}

void give(Call& call, const Value& value) {
  call.result = value.raw();
  give_headers(call, *value.document()->info());
}

void give(Call& call, const Response& response) {
  call.status = response.status();
  call.result = response.body();
  give_headers(call, *response.response_info());
}

Operation operation_of(const Call& call) {
  const auto id = "call-" + std::to_string(call.number);
  const std::int64_t product = 900 + call.number;
  RequestOptions request;
  JsonObject fields;
  switch (call.kind) {
    case 'g':
      return operations::subscriptions::get(id);
    case 'c':
      return operations::subscriptions::charge(id, {42, 1500, {}, {}, {}});
    case 'x':
      return operations::subscriptions::cancel(id);
    case 'u':
      fields.set("price", std::int64_t{1});
      return operations::products::update(product, fields);
    case 'd':
      return operations::products::remove(product);
    case 'w':
      return operations::webhook_endpoints::create("https://hooks.example/" + id);
    case 'q':
      return operations::request("GET", "/other/" + id, request);
    default:
      request.json = "[1]";
      return operations::request("POST", "/other/" + id, request);
  }
}

// Stores the result of a completed operation, or the operation's error, in `call`.
void read(Call& call, Completed& completed) {
  try {
    if (std::string_view("gcxu").find(call.kind) != std::string_view::npos) {
      give(call, completed.resource());
    } else {
      give(call, completed.response(call.kind == 'd' || call.kind == 'w'));
    }
  } catch (const Error& error) {
    call.error = error;
  }
}

}  // namespace

std::string nonce_of(std::string_view input) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : input) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

Caller::Caller(const Plan& plan, Witness& peer, std::string nonce, ClientOptions options)
    : plan_(plan), peer_(peer), nonce_(std::move(nonce)) {
  options.api_key = peer_key;
  options.timeout = milliseconds(1000);
  options.concurrency = 3;
  if (plan.calls.find('s') != std::string::npos) options.max_response = 512;
  options.interrupt = [this] { return interrupting_ && ++asked_ > 1; };
  max_response_ = options.max_response;
  detail::RetryEnvironment sources;
  sources.chance = [] { return 0.5; };
  session_ = std::make_shared<detail::Session>(options, sources);
  ClientChanges once;
  once.max_retries = 0;
  without_retries_ = std::make_shared<detail::Session>(*session_, once);
  if (plan.calls.find('a') != std::string::npos) loop_ = std::make_unique<Loop>(options, session_, without_retries_);
}

void Caller::run() {
  for (const char c : plan_.calls) {
    if (kinds.find(c) == std::string_view::npos) {
      finish_loop();
      setting(c);
    } else if (made_ < most_calls) {
      make(c);
    }
  }
  finish_loop();
  peer_.move();  // lets the peer receive the last bytes of the client
  for (const auto& each : calls_) judge(each.call, peer_, nonce_, each.pages);
  judge_connections(peer_);
}

void Caller::setting(char c) {
  if (c >= '0' && c <= '7') {
    timeout_ = milliseconds(25 << (c - '0'));
  } else if (c == 'r') {
    retries_ = !retries_;
  } else if (c == 'a') {
    in_loop_ = !in_loop_;
  } else if (c == 'i') {
    interrupt_next_ = true;
  } else if (c == 'm') {
    peer_.move();
  } else if (c == 'p' || c == 'P') {
    pass(c == 'p' ? 1'000'000 : 60'000'000);
    peer_.move();
  }
}

void Caller::make(char kind) {
  auto& made = calls_.emplace_back();
  auto& call = made.call;
  call.number = ++made_;
  call.kind = kind;
  call.write = writes.find(kind) != std::string_view::npos;
  call.max_retries = retries_ ? 2 : 0;
  call.max_response = max_response_;
  call.timeout = std::chrono::microseconds(timeout_).count();
  call.told_to_end = std::exchange(interrupt_next_, false);
  made.waited = waits();
  call.begin = clock_micros();
  if (in_loop_ && kind != 'l') return begin(made);
  if (in_loop_) finish_loop();
  interrupting_ = call.told_to_end;
  asked_ = 0;
  try {
    if (kind == 'l') {
      if (in_loop_) {
        list_in_loop(made);
      } else {
        list(made);
      }
    } else {
      CallOptions options;
      options.timeout = timeout_;
      (retries_ ? session_ : without_retries_)->send(operation_of(call), options, [&](Completed& completed) {
        read(call, completed);
      });
    }
  } catch (const Error& error) {
    call.error = error;
  } catch (const std::bad_alloc&) {
    require(false, "memory does not run out");
  }
  call.told_to_end = interrupting_ && asked_ > 1;
  interrupting_ = false;
  end(made);
}

void Caller::end(Made& made) {
  peer_.settle(made.call.number);
  made.call.end = clock_micros();
  made.call.waits = waits() - made.waited;
}

void Caller::begin(Made& made) {
  CallOptions options;
  options.timeout = timeout_;
  made.id = loop_->client(retries_).start(operation_of(made.call), options, [this, &made](Completed& completed) {
    read(made.call, completed);
    end(made);
    made.call.told_to_end = false;
    require(std::erase(running_, &made) == 1, "a call completes once");
  });
  running_.push_back(&made);
}

// Runs the loop until all calls have ended. If the input interrupts a call, the call is cancelled after a short wait.
void Caller::finish_loop() {
  for (std::uint64_t turns = 0; !running_.empty(); ++turns) {
    require(turns < most_turns, "an event loop does not spin");
    const bool cancels =
        std::any_of(running_.begin(), running_.end(), [](auto* made) { return made->call.told_to_end; });
    loop_->turn(cancels ? 25 : 100'000);
    for (auto* const made : std::deque<Made*>(running_)) {
      auto& call = made->call;
      if (!call.told_to_end || clock_micros() - call.begin < 20'000) continue;
      const auto cancelled = loop_->client(true).cancel(made->id);
      ErrorDetail detail;
      detail.outcome_unknown = cancelled.outcome_unknown;
      call.error.emplace(ErrorCode::interrupted, cancelled.text, detail);
      end(*made);
      std::erase(running_, made);
    }
  }
}

// Records a page of a list. A page may take several time-outs: if the list changes, the pager may read pages again, and
// each read has its own time-out.
void Caller::take(Made& made, const detail::PageData& page, std::int64_t begin) {
  require(clock_micros() - begin <= 4 * (made.call.timeout + 100'000), "a page of a list ends by its deadline");
  made.pages.push_back({page.pagination.current_page(), std::string(page.document->text())});
}

void Caller::list(Made& made) {
  const auto operation = operations::subscriptions::orders(Id("call-" + std::to_string(made.call.number)), {});
  CallOptions options;
  options.timeout = timeout_;
  auto source = std::make_unique<detail::BlockingSource>(retries_ ? session_ : without_retries_, operation, options);
  detail::PagerOptions settings;
  settings.concurrency = 3;
  settings.path = operation.path;
  detail::PageFlow list(settings, std::move(source));
  for (int i = 0; i < most_pages; ++i) {
    const auto begin = clock_micros();
    const auto page = list.next_page();
    if (!page) {
      require(list.core().verdict().has_value(), "a list that was read has a verdict");
      return;
    }
    take(made, *page, begin);
  }
  list.stop();
}

void Caller::list_in_loop(Made& made) {
  const auto operation = operations::subscriptions::orders(Id("call-" + std::to_string(made.call.number)), {});
  CallOptions options;
  options.timeout = timeout_;
  detail::PagerOptions settings;
  settings.concurrency = 3;
  settings.path = operation.path;
  const auto list = std::make_shared<detail::PageFlow>(settings);
  internal::LoopPages pages(loop_->client(retries_), list, operation, options);
  for (int i = 0; i < most_pages; ++i) {
    const auto begin = clock_micros();
    while (!list->core().buffered()) {
      const auto step = list->advance();
      if (step == detail::Step::taken) continue;
      if (step == detail::Step::ended) break;
      bool ready = false;
      pages.wait([&ready] { ready = true; });
      std::uint64_t turns = 0;
      while (!ready) {
        require(++turns < most_turns, "an event loop does not spin");
        if (interrupting_ && ++asked_ > 1) {
          pages.cancel();
          throw Error(ErrorCode::interrupted, "interrupted");
        }
        loop_->turn(interrupting_ ? 25 : 100'000);
      }
    }
    const auto page = list->take_page();
    if (!page) {
      require(list->core().verdict().has_value(), "a list that was read has a verdict");
      return;
    }
    take(made, *page, begin);
  }
}

}  // namespace billcore::fuzz
