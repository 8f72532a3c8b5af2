#include "billcore/async_client.hpp"

#include <unistd.h>

#include <unordered_map>
#include <utility>

#include "options.hpp"
#include "session.hpp"

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
      engine->at(detail::SteadyClock::now(), [this, ticket] { end(ticket); });
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

  pid_t pid = getpid();
  std::shared_ptr<detail::Descriptors> descriptors;
  std::unique_ptr<detail::Engine> engine;
  int descriptor;
  Ticket last = 0;
  bool starting = false;
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
  const auto error = detail::interrupted(own->exchange.request(), left);
  return {error.detail().outcome_unknown, error.message()};
}

std::size_t AsyncClient::running() const noexcept { return loop_->running.size(); }

}  // namespace billcore
