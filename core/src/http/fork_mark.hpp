// Which process is this? Asked twice in every call, so without a system call. Internal.
#pragma once

#include <atomic>
#include <cstdint>

namespace billcore::detail {

/// A number in a page of memory that the kernel empties in the child of a fork. Threads: any.
class ForkMark {
 public:
  ForkMark() noexcept;
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  /// Differs from what it was in every process that this one was forked from; never 0.
  [[nodiscard]] std::uint64_t here() noexcept;

 private:
  std::atomic<std::uint64_t>* page_ = nullptr;  // null where the kernel cannot do that
  std::atomic<std::uint64_t> last_{1};          // copied by a fork, as everything else
};

}  // namespace billcore::detail
