#include "http/pool.hpp"

#include <algorithm>
#include <condition_variable>

namespace billcore::detail {
namespace {

constexpr auto look_again = std::chrono::milliseconds(25);  // see Wait::interrupt

}  // namespace

struct EnginePool::State {
  State(std::uint64_t here, int connections) : process(here), free(connections) {}

  // Takes an idle engine; null if there is none. Requires the mutex.
  [[nodiscard]] std::unique_ptr<Engine> take_idle() noexcept {
    if (idle.empty()) return nullptr;
    auto engine = std::move(idle.back());
    idle.pop_back();
    return engine;
  }

  std::uint64_t process;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Engine>> idle;
  int free;  // number of connections that no engine has; not used without a limit
  std::shared_ptr<Descriptors> descriptors = std::make_shared<Descriptors>();
};

EnginePool::EnginePool(TransportOptions options)
    : options_(std::move(options)), state_(new State(mark_.here(), options_.max_connections)) {}

EnginePool::~EnginePool() {
  State* own = state_.load();
  if (own->process == mark_.here()) delete own;  // a forked child does not touch the inherited state
}

EnginePool::State& EnginePool::state() {
  State* current = state_.load(std::memory_order_acquire);
  const auto here = mark_.here();
  if (current->process == here) return *current;
  // In a forked child the parent's mutex may be held by a thread that does not exist in the child, so do not use it.
  auto fresh = std::make_unique<State>(here, options_.max_connections);
  State* const inherited = current;
  if (!state_.compare_exchange_strong(current, fresh.get())) return *current;
  inherited->descriptors->close_inherited();
  return *fresh.release();
}

EnginePool::Lease::Lease(EnginePool& pool, std::unique_ptr<Engine> engine, std::uint64_t process) noexcept
    : pool_(pool), engine_(std::move(engine)), process_(process) {}

EnginePool::Lease::~Lease() {
  if (is_ours()) {
    pool_.give_back(std::move(engine_));
  } else {
    static_cast<void>(engine_.release());
  }
}

EnginePool::Lease EnginePool::lease(int wanted, const Wait& wait) {
  State& pool = state();
  if (options_.max_connections > 0) return {*this, limited(pool, wanted, wait), pool.process};
  {
    const std::lock_guard lock(pool.mutex);
    if (auto idle = pool.take_idle()) return {*this, std::move(idle), pool.process};
  }
  return {*this, std::make_unique<Engine>(options_, pool.descriptors), pool.process};
}

std::unique_ptr<Engine> EnginePool::limited(State& pool, int wanted, const Wait& wait) {
  std::unique_lock lock(pool.mutex);
  while (pool.idle.empty() && pool.free == 0) {
    // The lock is not held while the program's function runs, and a signal handler may run within it.
    lock.unlock();
    if (wait.cancel.stop_requested() || (wait.interrupt && wait.interrupt())) throw NotLeased(true);
    if (pool.process != mark_.here()) throw NotLeased(true);  // `interrupt` has forked: the mutex is the parent's
    if (wait.until && SteadyClock::now() >= *wait.until) throw NotLeased(false);
    lock.lock();
    if (pool.idle.empty() && pool.free == 0) pool.changed.wait_for(lock, look_again);
  }
  auto engine = pool.take_idle();
  const int has = engine == nullptr ? 0 : engine->max_connections();
  // Leaves a connection for another call, if that is possible.
  const int more = std::clamp(wanted - has, 0, std::max(pool.free - 1, has == 0 ? 1 : 0));
  pool.free -= more;
  if (engine == nullptr) {
    lock.unlock();
    try {
      engine = std::make_unique<Engine>(options_, pool.descriptors);
    } catch (...) {
      lock.lock();
      pool.free += more;
      throw;
    }
  }
  if (more > 0) engine->set_max_connections(has + more);
  return engine;
}

bool EnginePool::has_spare() {
  if (options_.max_connections == 0) return true;
  State& pool = state();
  const std::lock_guard lock(pool.mutex);
  return pool.free > 0 || !pool.idle.empty();
}

void EnginePool::give_back(std::unique_ptr<Engine> engine) noexcept {
  State& pool = *state_.load(std::memory_order_acquire);
  const std::lock_guard lock(pool.mutex);
  pool.changed.notify_one();
  const int connections = engine->max_connections();
  try {
    if (!closed_) return pool.idle.push_back(std::move(engine));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): destroy the engine instead
  }
  pool.free += connections;
}

void EnginePool::close() noexcept try {
  closed_ = true;
  State& pool = state();
  std::vector<std::unique_ptr<Engine>> idle;
  {
    const std::lock_guard lock(pool.mutex);
    idle.swap(pool.idle);
    for (const auto& engine : idle) pool.free += engine->max_connections();
  }
} catch (...) {
  // Only a forked child without memory for its own state executes this code, and such a child has no idle engines to
  // close.
}

}  // namespace billcore::detail
