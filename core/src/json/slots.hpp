// A few objects kept for their next user, without a lock. Internal.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace billcore::detail {

/// Each slot is one atomic pointer: an object is in a slot or in somebody's hands, never both. Whoever finds none makes
/// one, and frees it in the end when all slots are taken. A thread that dies, or a fork, can at most lose an object.
template <typename T, std::size_t count>
class Slots {
 public:
  Slots() = default;
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  /// An object that is now the caller's, or null.
  [[nodiscard]] T* take() noexcept {
    const std::size_t home = own_slot();
    for (std::size_t i = 0; i < count; ++i) {
      auto& slot = slots_[(home + i) % count].object;
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* object = slot.exchange(nullptr, std::memory_order_acquire)) return object;
    }
    return nullptr;
  }

  /// False when there is no room: the object is still the caller's.
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
  // Threads begin at different slots, so that they seldom meet on one.
  static std::size_t own_slot() noexcept {
    const auto self = (std::uint64_t)pthread_self();  // NOLINT: a number or a pointer
    return static_cast<std::size_t>((self * 0x9E3779B97F4A7C15U) >> 40U) % count;
  }

  struct alignas(64) Slot {  // a cache line each
    std::atomic<T*> object{nullptr};
  };
  std::array<Slot, count> slots_;
};

}  // namespace billcore::detail
