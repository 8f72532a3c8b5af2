// Memory allocation for nanoarrow. After a failed allocation nanoarrow leaks memory and follows pointers of an
// incomplete child array. Therefore the functions that allocate memory for nanoarrow throw an exception through
// nanoarrow's frames when memory runs out, and ArrowScope frees everything that was allocated in the scope. Internal.
#pragma once

#include <cstddef>

namespace billcore::detail {

/// While an ArrowScope exists, a failed allocation by nanoarrow on this thread throws std::bad_alloc. The destructor
/// frees all memory that was allocated in the scope and not freed yet, unless keep() was called. If keep() was not
/// called, the caller must not release the Arrow structs that were made in the scope, because the destructor frees
/// their memory.
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
  Block blocks_;  // head of the circular list of blocks allocated in the scope
};

}  // namespace billcore::detail
