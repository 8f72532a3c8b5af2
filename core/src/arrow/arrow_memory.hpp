// The memory of nanoarrow. It does not survive a failed allocation: it leaks, and follows pointers of a half-made child.
// So a failure throws through its frames, and what was allocated since goes as a whole. Internal.
#pragma once

#include <cstddef>

namespace billcore::detail {

/// While it exists, a failed allocation of nanoarrow on this thread throws std::bad_alloc. Its end frees all that was
/// allocated and is still there, unless that is kept: nothing made meanwhile may be released by its owner before.
class ArrowScope {
 public:
  ArrowScope() noexcept;
  ~ArrowScope();
  ArrowScope(const ArrowScope&) = delete;
  ArrowScope& operator=(const ArrowScope&) = delete;
  void keep() noexcept;

  struct alignas(std::max_align_t) Block {
    Block* next;
    Block* previous;
  };

 private:
  Block* outer_;
  Block blocks_;  // a ring
};

}  // namespace billcore::detail
