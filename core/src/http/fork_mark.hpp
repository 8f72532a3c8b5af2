// Detects a fork without a system call: every call of the client makes this check twice, so the check must be fast.
// Internal.
#pragma once

#include <atomic>
#include <cstdint>

namespace billcore::detail {

/// A number in a page of memory that the kernel zeroes in a forked child. Threads: any.
class ForkMark {
 public:
  ForkMark() noexcept;
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  /// The number of this process: never 0, and different from the number of every process that it was forked from.
  [[nodiscard]] std::uint64_t here() noexcept;

 private:
  std::atomic<std::uint64_t>* page_ = nullptr;  // null if the kernel does not support MADV_WIPEONFORK
  std::atomic<std::uint64_t> last_{1};          // last number used; in ordinary memory, so a forked child inherits it
};

}  // namespace billcore::detail
