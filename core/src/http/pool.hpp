// The pool of engines behind a client. Internal.
//
// A call leases an idle engine (last in, first out), drives it, and gives it back: no lock is held during I/O. The pool
// records the process it was made in; after a fork the child leaves the inherited engines untouched (cleaning one up
// would end the parent's TLS connection), closes its copies of their descriptors, and begins with none.
#pragma once

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

  /// An engine on loan; goes back when the lease ends.
  class Lease {
   public:
    Lease(EnginePool& pool, std::unique_ptr<Engine> engine, std::uint64_t process) noexcept;
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] Engine& operator*() const noexcept { return *engine_; }
    /// False in a child of the process that leased it.
    [[nodiscard]] bool is_ours() const noexcept { return process_ == pool_.mark_.here(); }

   private:
    EnginePool& pool_;
    std::unique_ptr<Engine> engine_;
    std::uint64_t process_;  // that leased it: after a fork within a call the engine is still the parent's
  };
  [[nodiscard]] Lease lease();
  /// Closes idle engines; those on loan close when they come back.
  void close() noexcept;

 private:
  struct State;
  [[nodiscard]] State& state();
  // In the process that leased it.
  void give_back(std::unique_ptr<Engine> engine) noexcept;

  TransportOptions options_;
  ForkMark mark_;
  std::atomic<bool> closed_{false};
  std::atomic<State*> state_;
};

}  // namespace billcore::detail
