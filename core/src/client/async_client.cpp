#include "billcore/async_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

#include "call/options.hpp"
#include "call/session.hpp"
#include "paging/list_reader.hpp"
#include "paging/pager_core.hpp"

namespace billcore {
namespace {

// More at once serve nobody: further requests wait for one of these.
constexpr int max_connections = 100;

detail::TransportOptions options_of(const ClientOptions& options) {
  auto transport = detail::transport_options(options);
  transport.max_connections = max_connections;
  return transport;
}

// One operation on its way. The exchange refers to the rest.
struct Running {
  Running(detail::SessionPtr from, detail::Engine& engine, Operation what, const CallOptions& call,
          AsyncClient::Done then)
      : session(std::move(from)),
        operation(std::move(what)),
        hooks(call.hooks),
        done(std::move(then)),
        exchange(session->terms(), engine, operation, session->deadline(call), session->hooks(call)) {}

  detail::SessionPtr session;
  Operation operation;
  std::shared_ptr<Hooks> hooks;
  AsyncClient::Done done;
  detail::Exchange exchange;
};

}  // namespace

struct AsyncClient::Loop {
  explicit Loop(const ClientOptions& options)
      : descriptors(std::make_shared<detail::Descriptors>()),
        engine(std::make_unique<detail::Engine>(options_of(options), descriptors)),
        descriptor(engine->descriptor()) {}
  ~Loop() {
    if (pid == getpid()) return;
    // In the child of a fork: to clean up would end the parent's connections.
    descriptors->close_inherited();
    for (auto& [ticket, each] : running) static_cast<void>(each.release());
    static_cast<void>(engine.release());
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void end(Ticket ticket) noexcept {
    if (starting) {  // nobody expects to be called before start() returns
      early = true;
      engine->wake();
      return;
    }
    const auto ended = running.extract(ticket);
    if (ended.empty()) return;  // cancelled before it could be told
    auto& own = *ended.mapped();
    Completed completed(own.exchange);
    try {
      own.done(completed);
    } catch (...) {  // NOLINT(bugprone-empty-catch): one operation's function must not stop the others
    }
  }

  // Those that ended while they were started. A function that is told may begin others.
  void end_early() noexcept {
    if (!std::exchange(early, false)) return;
    const auto is_done = [](const auto& each) { return each.second->exchange.done(); };
    for (auto each = std::find_if(running.begin(), running.end(), is_done); each != running.end();
         each = std::find_if(running.begin(), running.end(), is_done)) {
      end(each->first);
    }
  }

  pid_t pid = getpid();
  std::shared_ptr<detail::Descriptors> descriptors;
  std::unique_ptr<detail::Engine> engine;
  int descriptor;
  Ticket last = 0;
  bool starting = false;
  bool early = false;                                            // an operation ended while it was started
  std::size_t waiting = 0;                                       // lists
  std::unordered_map<Ticket, std::unique_ptr<Running>> running;  // goes before the engine
};

AsyncClient::AsyncClient(const Client& client)
    : session_(client.session_), loop_(std::make_shared<Loop>(session_->terms().options)) {}

AsyncClient::AsyncClient(const Client& client, const AsyncClient& beside)
    : session_(client.session_), loop_(beside.loop_) {}

int AsyncClient::descriptor() const { return loop_->descriptor; }

void AsyncClient::process() {
  const auto kept = loop_;  // a `done` may let go of the last AsyncClient
  kept->engine->process();
  kept->end_early();
}

AsyncClient::Ticket AsyncClient::start(Operation operation, const CallOptions& call, Done done) {
  session_->require_open();
  const Ticket ticket = ++loop_->last;
  auto own = std::make_unique<Running>(session_, *loop_->engine, std::move(operation), call, std::move(done));
  auto& exchange = loop_->running.emplace(ticket, std::move(own)).first->second->exchange;
  loop_->starting = true;
  exchange.start([loop = loop_.get(), ticket] { loop->end(ticket); });
  loop_->starting = false;
  return ticket;
}

AsyncClient::Cancelled AsyncClient::cancel(Ticket ticket) {
  const auto found = loop_->running.find(ticket);
  if (found == loop_->running.end()) return {};
  const auto own = std::move(found->second);
  loop_->running.erase(found);
  const auto left = own->exchange.cancel();
  const auto request = own->exchange.request();
  Cancelled out{left.sent && request.is_write(), "interrupted"};  // short enough to need no memory
  try {
    out.text = detail::interrupted(request, left).message();
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): what became of a write is said all the same
  }
  return out;
}

std::size_t AsyncClient::running() const noexcept { return loop_->running.size() + loop_->waiting; }

struct AsyncPages::Parts {
  Parts(std::shared_ptr<AsyncClient::Loop> of, std::shared_ptr<detail::PagerCore> pager,
        const detail::SessionPtr& session, ListOperation list, const CallOptions& call)
      : loop(std::move(of)), core(std::move(pager)), reader(session, *loop->engine, std::move(list), call) {}

  std::shared_ptr<AsyncClient::Loop> loop;
  std::shared_ptr<detail::PagerCore> core;
  detail::ListReader reader;
  bool waited_for = false;
  std::optional<detail::Engine::Timer> timer;

  void leave() noexcept {
    if (!std::exchange(waited_for, false)) return;
    --loop->waiting;
    if (const auto running = std::exchange(timer, std::nullopt)) loop->engine->stop(*running);
    reader.expect_nothing();
  }
};

AsyncPages::AsyncPages(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

AsyncPages::~AsyncPages() {
  if (parts_->loop->pid == getpid()) {
    parts_->leave();
  } else {
    static_cast<void>(parts_.release());  // of the parent of a fork
  }
}

void AsyncPages::announce() {
  const auto next = parts_->core->ahead();
  if (!next || next->page > next->last) return;
  parts_->core->announced(*next);
  parts_->reader.notice_pause();
  parts_->reader.request(next->page, next->last, next->count);
}

bool AsyncPages::advance() {
  const auto wanted = parts_->core->wanted();
  if (!wanted || wanted->anew || !parts_->reader.has(wanted->page)) return false;
  parts_->core->accept(parts_->reader.take(wanted->page));
  if (parts_->core->has_page()) announce();
  return true;
}

void AsyncPages::wait(std::function<void()> ready) {
  const auto wanted = *parts_->core->wanted();
  parts_->core->fetching();
  auto& reader = parts_->reader;
  if (wanted.anew) reader.drop();
  reader.notice_pause();
  reader.request(wanted.page, wanted.last, wanted.count);
  if (!std::exchange(parts_->waited_for, true)) ++parts_->loop->waiting;
  auto told = [parts = parts_.get(), ready = std::move(ready)] {
    parts->leave();
    ready();
  };
  if (reader.has(wanted.page)) {  // whoever waits expects to be called later
    parts_->timer = parts_->loop->engine->at(detail::SteadyClock::now(), std::move(told));
  } else {
    reader.expect(wanted.page, std::move(told));
  }
}

void AsyncPages::give_up() noexcept {
  parts_->reader.give_up();
  parts_->leave();
}

std::unique_ptr<AsyncPages> AsyncClient::pages(std::shared_ptr<detail::PagerCore> pager, ListOperation list,
                                               const CallOptions& call) const {
  session_->require_open();
  return std::make_unique<AsyncPages>(
      std::make_unique<AsyncPages::Parts>(loop_, std::move(pager), session_, std::move(list), call));
}

}  // namespace billcore
