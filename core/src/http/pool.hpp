// The pool of engines behind a client. Internal.
//
// A call leases an idle engine (last in, first out), drives it and returns it, so no lock is held during I/O. The pool
// records the process that created it. After a fork the child leaves the inherited engines untouched (destroying one
// would end the parent's TLS connection), closes its copies of their descriptors, and starts with an empty pool.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
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
  [[nodiscard]] Lease lease();
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }
  /// The number of this process, which differs from the numbers of the processes that it was forked from.
  [[nodiscard]] std::uint64_t process() noexcept { return mark_.here(); }
  /// Closes idle engines; a leased engine closes when it is returned.
  void close() noexcept;

 private:
  struct State;
  [[nodiscard]] State& state();
  // Call give_back() only in the process that leased the engine.
  void give_back(std::unique_ptr<Engine> engine) noexcept;

  TransportOptions options_;
  ForkMark mark_;
  std::atomic<bool> closed_{false};
  std::atomic<State*> state_;
};

}  // namespace billcore::detail
