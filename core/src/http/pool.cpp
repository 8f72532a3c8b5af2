#include "http/pool.hpp"

namespace billcore::detail {

struct EnginePool::State {
  explicit State(std::uint64_t here) : process(here) {}

  std::uint64_t process;
  std::mutex mutex;
  std::vector<std::unique_ptr<Engine>> idle;
  std::shared_ptr<Descriptors> descriptors = std::make_shared<Descriptors>();
};

EnginePool::EnginePool(TransportOptions options) : options_(std::move(options)), state_(new State(mark_.here())) {}

EnginePool::~EnginePool() {
  State* own = state_.load();
  if (own->process == mark_.here()) delete own;  // a forked child does not touch the inherited state
}

EnginePool::State& EnginePool::state() {
  State* current = state_.load(std::memory_order_acquire);
  const auto here = mark_.here();
  if (current->process == here) return *current;
  // In a forked child the parent's mutex may be held by a thread that does not exist in the child, so do not use it.
  auto fresh = std::make_unique<State>(here);
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

EnginePool::Lease EnginePool::lease() {
  State& pool = state();
  {
    const std::lock_guard lock(pool.mutex);
    if (!pool.idle.empty()) {
      auto engine = std::move(pool.idle.back());
      pool.idle.pop_back();
      return {*this, std::move(engine), pool.process};
    }
  }
  return {*this, std::make_unique<Engine>(options_, pool.descriptors), pool.process};
}

void EnginePool::give_back(std::unique_ptr<Engine> engine) noexcept try {
  State& pool = *state_.load(std::memory_order_acquire);
  const std::lock_guard lock(pool.mutex);
  if (!closed_) pool.idle.push_back(std::move(engine));
} catch (...) {
  // Memory ran out: the engine is destroyed instead of kept.
}

void EnginePool::close() noexcept try {
  closed_ = true;
  State& pool = state();
  std::vector<std::unique_ptr<Engine>> idle;
  {
    const std::lock_guard lock(pool.mutex);
    idle.swap(pool.idle);
  }
} catch (...) {
  // Only a forked child without memory for its own state executes this code, and such a child has no idle engines to
  // close.
}

}  // namespace billcore::detail
