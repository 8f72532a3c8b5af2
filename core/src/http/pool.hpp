// The pool of engines behind a client. Internal.
//
// A call leases an idle engine (last in, first out), drives it and returns it, so no lock is held during I/O. The pool
// records the process that created it. After a fork the child leaves the inherited engines untouched (destroying one
// would end the parent's TLS connection), closes its copies of their descriptors, and starts with an empty pool.
//
// With TransportOptions::max_connections, the engines share that number: each has at least one connection, and as many
// as its first call wanted. A call waits until an engine is free. So that a thread does not wait for an engine that it
// has itself, a list that is not being read keeps its engine only if another one is left (has_spare()).

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "http/engine.hpp"
#include "http/fork_mark.hpp"

namespace billcore::detail {

class EnginePool {
 public:
  explicit EnginePool(TransportOptions options);
  ~EnginePool();
  EnginePool(const EnginePool&) = delete;
  EnginePool& operator=(const EnginePool&) = delete;

  /// A leased engine; returned to the pool by the destructor.
  class Lease {
   public:
    Lease(EnginePool& pool, std::unique_ptr<Engine> engine, std::uint64_t process) noexcept;
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] Engine& operator*() const noexcept { return *engine_; }
    /// Returns false in a forked child of the process that leased the engine.
    [[nodiscard]] bool is_ours() const noexcept { return process_ == pool_.mark_.here(); }

   private:
    EnginePool& pool_;
    std::unique_ptr<Engine> engine_;
    std::uint64_t process_;  // process that leased the engine; a child forked during the call must not use the engine
  };
  /// How to wait for an engine: until the deadline, or until `interrupt` returns true, which is called at least every 50
  /// ms, or a stop is requested.
  struct Wait {
    const Deadline& until;
    const std::function<bool()>& interrupt;
    const std::stop_token& cancel;
  };
  /// Leases an engine with up to `wanted` connections. Throws NotLeased if no engine became free in time.
  [[nodiscard]] Lease lease(int wanted, const Wait& wait);
  struct NotLeased : std::exception {
    explicit NotLeased(bool by_interrupt) noexcept : interrupted(by_interrupt) {}
    bool interrupted;  // false: the deadline has passed
  };
  /// Whether another call would get an engine at once.
  [[nodiscard]] bool has_spare();
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }
  /// The number of this process, which differs from the numbers of the processes that it was forked from.
  [[nodiscard]] std::uint64_t process() noexcept { return mark_.here(); }
  /// Closes idle engines; a leased engine closes when it is returned.
  void close() noexcept;

 private:
  struct State;
  [[nodiscard]] State& state();
  [[nodiscard]] std::unique_ptr<Engine> limited(State& pool, int wanted, const Wait& wait);
  // Call give_back() only in the process that leased the engine.
  void give_back(std::unique_ptr<Engine> engine) noexcept;

  TransportOptions options_;
  ForkMark mark_;
  std::atomic<bool> closed_{false};
  std::atomic<State*> state_;
};

}  // namespace billcore::detail
