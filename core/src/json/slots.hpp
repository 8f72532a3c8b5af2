// A small lock-free cache of objects for reuse. Internal.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace billcore::detail {

/// Each slot is one atomic pointer: an object is either in a slot or owned by a caller, never both. A caller that gets
/// null from take() creates an object, and destroys it if keep() finds all slots taken. If a thread is terminated or
/// the process forks, at most the objects that callers own are lost.
template <typename T, std::size_t count>
class Slots {
 public:
  Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  /// Takes an object out of a slot; null if all slots are empty.
  [[nodiscard]] T* take() noexcept {
    const std::size_t home = own_slot();
    for (std::size_t i = 0; i < count; ++i) {
      auto& slot = slots_[(home + i) % count].object;
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* object = slot.exchange(nullptr, std::memory_order_acquire)) return object;
    }
    return nullptr;
  }

  /// Puts an object into a free slot. Returns false if all slots are taken; the caller then still owns the object.
  [[nodiscard]] bool keep(T* object) noexcept {
    const std::size_t home = own_slot();
    for (std::size_t i = 0; i < count; ++i) {
      T* expected = nullptr;
      if (slots_[(home + i) % count].object.compare_exchange_strong(expected, object, std::memory_order_release,
                                                                    std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  // Threads start at different slots to reduce contention.
  static std::size_t own_slot() noexcept {
    const auto self = (std::uint64_t)pthread_self();  // NOLINT: pthread_t may be a number or a pointer
    return static_cast<std::size_t>((self * 0x9E3779B97F4A7C15U) >> 40U) % count;
  }

  struct alignas(64) Slot {  // each slot has its own cache line
    std::atomic<T*> object{nullptr};
  };
  std::array<Slot, count> slots_;
};

}  // namespace billcore::detail
