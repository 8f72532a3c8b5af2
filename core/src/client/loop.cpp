#include "client/loop.hpp"

#include <algorithm>
#include <new>

namespace billcore::detail {
namespace {

// Maximum number of connections of an event loop, unless the program sets one. Further requests wait for a free
// connection.
constexpr int max_connections = 100;

TransportOptions limited(TransportOptions options) {
  if (options.max_connections == 0) options.max_connections = max_connections;
  return options;
}

// Over HTTP/2 most connections are for writes, because reads share a connection. (A single connection is for HTTP/1.)
TransportOptions for_reads(TransportOptions options) {
  if (options.max_connections == 1) options.http2 = false;
  if (options.http2) options.max_connections = (options.max_connections + 3) / 4;
  return options;
}

}  // namespace

Loop::Loop(TransportOptions transport)
    : options(limited(std::move(transport))),
      descriptors(std::make_shared<Descriptors>()),
      engine(std::make_unique<Engine>(for_reads(options), descriptors)),
      descriptor(engine->descriptor()),
      process_(mark_.here()) {}

void refuse_token(const CallOptions& options) {
  if (!options.cancel.stop_possible()) return;
  throw Error(
      ErrorCode::invalid_argument,
      "an event loop's call takes no cancel token, because another thread may trigger it: cancel the call itself");
}

Loop::~Loop() {
  if (is_ours()) return;
  // Destroying the calls and the engine in a forked child would close the parent's connections, so the child leaks
  // these objects.
  descriptors->close_inherited();
  for (auto& [id, each] : calls) static_cast<void>(each.release());
  static_cast<void>(engine.release());
  static_cast<void>(writes.release());
}

bool Loop::is_ours() const noexcept { return mark_.here() == process_; }

Engine& Loop::engine_for(const Operation& operation) {
  if (!options.http2 || options.max_connections == 1 || !operation.is_write()) return *engine;
  if (writes == nullptr) {
    auto alone = options;
    alone.streams = 1;
    alone.max_connections -= for_reads(options).max_connections;
    auto made = std::make_unique<Engine>(alone, descriptors);
    engine->drive_with(*made);
    writes = std::move(made);
  }
  return *writes;
}

AsyncClient::CallId Loop::start(SessionPtr session, Operation operation, const CallOptions& call_options,
                                AsyncClient::Done done) {
  const auto id = ++last_;
  Engine& on = engine_for(operation);
  auto own = std::make_unique<PendingCall>(std::move(session), on, std::move(operation), call_options, std::move(done));
  auto& call = calls.emplace(id, std::move(own)).first->second->call;
  const bool outer = std::exchange(starting_, true);  // start() calls may be nested: a hook may start an operation
  call.start([this, id] { finish(id); });
  starting_ = outer;
  return id;
}

void Loop::finish(AsyncClient::CallId id) noexcept {
  if (starting_) {  // `done` must not be called before start() returns
    early_ = true;
    engine->wake();
    return;
  }
  const auto ended = calls.extract(id);
  if (ended.empty()) return;  // the operation was cancelled in the meantime
  auto& own = *ended.mapped();
  Completed completed(own.call);
  try {
    own.done(completed);
  } catch (...) {  // NOLINT(bugprone-empty-catch): an exception from a `done` callback must not affect other operations
  }
}

// Calls `done` for the operations that ended within start(). A `done` callback may start further operations.
void Loop::finish_early() noexcept {
  if (!std::exchange(early_, false)) return;
  const auto is_done = [](const auto& each) { return each.second->call.done(); };
  for (auto each = std::find_if(calls.begin(), calls.end(), is_done); each != calls.end();
       each = std::find_if(calls.begin(), calls.end(), is_done)) {
    finish(each->first);
  }
}

void Loop::process() {
  struct Last {
    Loop& loop;
    ~Last() { loop.finish_early(); }
  } const last{*this};
  engine->process();
}

AsyncClient::Cancelled Loop::cancel(AsyncClient::CallId id) {
  const auto found = calls.find(id);
  if (found == calls.end()) return {};
  if (auto& call = found->second->call; call.is_in_hook()) {
    call.end_after_hook();
    return {call.request().is_write(), "cancelled within its own hook; it may or may not have happened"};
  }
  const auto own = std::move(found->second);
  calls.erase(found);
  const auto state = own->call.cancel();
  const auto request = own->call.request();
  AsyncClient::Cancelled out{state.sent && request.is_write(), "interrupted"};  // a short string needs no allocation
  try {
    out.error = interruption_error(request, state);
    out.text = out.error->message();
  } catch (const std::bad_alloc&) {  // keep the short text, and the error that needs no memory
    if (out.outcome_unknown) out.error = request.settings.no_memory_after_send;
  }
  return out;
}

}  // namespace billcore::detail
