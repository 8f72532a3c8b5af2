#include "billcore/internal.hpp"

#include <optional>
#include <utility>

#include "client/lists.hpp"
#include "client/loop.hpp"
#include "paging/blocking_source.hpp"
#include "paging/page_fetcher.hpp"
#include "paging/page_flow.hpp"

namespace billcore::internal {

void require_open(const Client& client) { Access::session(client)->require_open(); }

const std::string& base_url(const Client& client) noexcept {
  return Access::session(client)->settings().options.base_url;
}

std::chrono::milliseconds timeout(const Client& client, const CallOptions& call) {
  return call.timeout.value_or(Access::session(client)->settings().options.timeout);
}
std::chrono::milliseconds timeout(const AsyncClient& client, const CallOptions& call) {
  return call.timeout.value_or(Access::session(client)->settings().options.timeout);
}

void send(const Client& client, const Operation& operation, const CallOptions& call,
          const std::function<void(Completed&)>& read) {
  Access::session(client)->send(operation, call, read);
}

Value resource(const Client& client, const Operation& operation, const CallOptions& call) {
  return Access::session(client)->resource(operation, call);
}

Response response(const Client& client, const Operation& operation, bool raise_on_error, const CallOptions& call) {
  return Access::session(client)->response(operation, raise_on_error, call);
}

Flow list(const Client& client, ListOperation list, detail::PagerOptions options, const CallOptions& call) {
  return detail::blocking_list(Access::session(client), std::move(list), std::move(options), call);
}

Flow list_for_loops(const Client& client, const ListOperation& list, detail::PagerOptions options) {
  return std::make_shared<detail::PageFlow>(detail::complete(*Access::session(client), list, std::move(options)));
}

bool is_ours(const AsyncClient& client) noexcept { return Access::loop(client)->is_ours(); }
void wake(const AsyncClient& client) noexcept { Access::loop(client)->engine->wake_from_any_thread(); }
bool is_ready(const AsyncClient& client) noexcept { return Access::loop(client)->engine->is_ready(); }
void require_startable(const AsyncClient& client, const CallOptions& call) {
  Access::session(client)->require_open();
  detail::refuse_token(call);
}

namespace {

void require_same_connections(const detail::SessionPtr& session, const AsyncClient& loop, const char* refused) {
  if (session->settings().state == Access::session(loop)->settings().state) return;
  throw Error(ErrorCode::invalid_argument, refused);
}

}  // namespace

AsyncClient beside(const Client& client, const AsyncClient& loop) {
  require_same_connections(Access::session(client), loop,
                           "the client has other connections than the loop: derive it from the loop's client");
  return {client, loop};
}

namespace {

/// A wait in an event loop. Until it ends, it counts in AsyncClient::running().
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<detail::Loop> of) : loop_(std::move(of)) {}

  void begin() noexcept {
    if (!std::exchange(waits_, true)) ++loop_->waiting;
  }
  /// For a wait that is over already: `told` must not be called before wait() returns.
  void tell_soon(std::function<void()> told) {
    timer_ = loop_->engine->at(detail::SteadyClock::now(), std::move(told));
  }
  /// Returns false if there is no wait.
  bool end() noexcept {
    if (!std::exchange(waits_, false)) return false;
    --loop_->waiting;
    if (const auto running = std::exchange(timer_, std::nullopt)) loop_->engine->stop(*running);
    return true;
  }

 private:
  std::shared_ptr<detail::Loop> loop_;
  bool waits_ = false;
  std::optional<detail::Engine::Timer> timer_;
};

}  // namespace

// A page source for event loops: fetch() returns null while the page is in flight, and wait() calls back when the
// page arrives.
struct LoopPages::State final : detail::PageSource {
  State(std::shared_ptr<detail::Loop> of, detail::SessionPtr from, Flow list, ListOperation what,
        const CallOptions& call)
      : loop(std::move(of)),
        session(std::move(from)),
        flow(std::move(list)),
        operation(std::move(what)),
        fetcher(session, *loop->engine, operation, call) {}

  [[nodiscard]] bool blocks() const noexcept override { return false; }

  std::shared_ptr<const detail::Document> fetch(const detail::Wanted& wanted) override {
    ahead(wanted);
    page = wanted.page;
    until = wanted.until;
    return fetcher.has(page) ? fetcher.take(page) : nullptr;
  }
  void ahead(const detail::Wanted& wanted) override {
    if (!loop->is_ours()) {
      throw Error(ErrorCode::config, "this process was forked from the one whose loop reads the list: list again here");
    }
    if (wanted.anew) fetcher.clear();
    fetcher.notice_pause();
    fetcher.request(wanted.page, wanted.last, wanted.count);
  }
  void tend() noexcept override {}  // nothing to do: the event loop drives the transfers
  void stop() noexcept override {}  // stop() may run on any thread, so LoopPages::stop() cancels the pages

  // Ends the pending wait, if any.
  void leave() noexcept {
    if (waiting.end()) fetcher.expect_nothing();
  }

  std::shared_ptr<detail::Loop> loop;
  detail::SessionPtr session;
  Flow flow;
  ListOperation operation;
  detail::PageFetcher fetcher;
  std::int64_t page = 0;   // number of the page that fetch() requested last
  detail::Deadline until;  // of the whole list
  Waiting waiting{loop};
};

namespace {

const detail::BlockingSource& blocking_source(const Flow& list) {
  return static_cast<const detail::BlockingSource&>(*list->own_source());  // as detail::blocking_list() made it
}

}  // namespace

LoopPages::LoopPages(const AsyncClient& client, detail::SessionPtr session, Flow list, ListOperation operation,
                     const CallOptions& call) {
  session->require_open();
  detail::refuse_token(call);
  state_ =
      std::make_unique<State>(Access::loop(client), std::move(session), std::move(list), std::move(operation), call);
  state_->flow->attach(*state_);
}

LoopPages::LoopPages(const AsyncClient& client, Flow list, ListOperation operation, const CallOptions& call)
    : LoopPages(client, Access::session(client), std::move(list), std::move(operation), call) {}

LoopPages::LoopPages(const AsyncClient& client, const Flow& list)
    : LoopPages(client, blocking_source(list).session(), list, blocking_source(list).list(),
                blocking_source(list).options()) {
  require_same_connections(state_->session, client,
                           "the list and the loop have different clients: list with the loop's client");
  list->own_source()->stop();  // its pages in flight
}

LoopPages::~LoopPages() {
  state_->flow->detach(*state_);
  if (state_->loop->is_ours()) {
    state_->leave();
  } else {
    static_cast<void>(state_.release());  // a forked child leaks the parent's state
  }
}

void LoopPages::wait(std::function<void()> ready) try {
  auto& state = *state_;
  state.waiting.begin();
  auto told = [&state, ready = std::move(ready)] {
    state.leave();
    ready();
  };
  if (state.fetcher.has(state.page)) {
    state.waiting.tell_soon(std::move(told));
  } else {
    state.fetcher.expect(state.page, state.until, std::move(told));
  }
} catch (...) {  // out of memory: do not leave the page in flight without its time-out
  state_->fetcher.clear();
  state_->leave();
  throw;
}

void LoopPages::cancel() noexcept {
  state_->fetcher.cancel();
  state_->leave();
}

void LoopPages::stop() noexcept {
  if (!state_->loop->is_ours()) return;
  state_->leave();
  state_->fetcher.clear();
}

Error LoopPages::interruption() const {
  const auto page = state_->operation.page(state_->page);
  return detail::interruption_error({page.method, page.path, *state_->session->settings().answers, 1, page.page}, {});
}

std::shared_ptr<detail::BlockingMany> many(const Client& client, const ManyOptions& options, const CallOptions& call) {
  return std::make_shared<detail::BlockingMany>(Access::session(client), options, call);
}

struct LoopMany::State {
  State(std::shared_ptr<detail::Loop> of, detail::SessionPtr session, const ManyOptions& options,
        const CallOptions& call)
      : loop(std::move(of)), calls(std::move(session), options, call) {}

  void leave() noexcept {
    if (waiting.end()) calls.tell(nullptr);
  }

  std::shared_ptr<detail::Loop> loop;
  detail::ManyCalls calls;
  Waiting waiting{loop};
};

LoopMany::LoopMany(const AsyncClient& client, const ManyOptions& options, const CallOptions& call) {
  detail::refuse_token(call);
  state_ = std::make_unique<State>(Access::loop(client), Access::session(client), options, call);
}

LoopMany::~LoopMany() {
  if (state_->loop->is_ours()) {
    state_->leave();
  } else {
    static_cast<void>(state_.release());  // a forked child leaks the parent's state
  }
}

bool LoopMany::wants() const noexcept { return state_->calls.wants(); }
bool LoopMany::empty() const noexcept { return state_->calls.empty(); }
// A forked child starts no call again: the engine is the parent's.
bool LoopMany::has() { return state_->loop->is_ours() && state_->calls.has(*state_->loop->engine); }
detail::ReadResult LoopMany::take() { return state_->calls.take(); }
Error LoopMany::interruption() const { return state_->calls.interruption(); }

void LoopMany::add(detail::ReadKey key, Operation get) {
  if (!state_->loop->is_ours()) {
    throw Error(ErrorCode::config, "this process was forked from the one whose loop reads the ids: begin again here");
  }
  state_->calls.add(*state_->loop->engine, std::move(key), std::move(get));
}

void LoopMany::wait(std::function<void()> ready) {
  auto& state = *state_;
  auto told = [&state, ready = std::move(ready)] {
    state.leave();
    ready();
  };
  if (has() || empty()) {
    state.waiting.tell_soon(std::move(told));
  } else {
    state.calls.tell(std::move(told));
  }
  state.waiting.begin();
}

void LoopMany::cancel() noexcept { state_->leave(); }

}  // namespace billcore::internal
