// Memory for parsed documents. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

#include "json/slots.hpp"

namespace billcore::detail {

struct Allocator {
  void* (*allocate)(void* context, std::size_t size);
  void* (*reallocate)(void* context, void* memory, std::size_t old_size, std::size_t size);
  void (*release)(void* context, void* memory);
  void* context;
};

/// Allocator of heap memory, for a document of any size.
[[nodiscard]] Allocator heap_allocator() noexcept;

class DocumentPool;

/// Memory for one document: allocated from front to back, released as a whole. Threads: one at a time.
class alignas(std::max_align_t) Block {
 public:
  /// Allocates memory from the block; null when the block is full.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;
  [[nodiscard]] Allocator allocator() noexcept;
  /// Ends the use of the block and returns it to its pool.
  void release() noexcept;

 private:
  friend class DocumentPool;
  explicit Block(std::size_t capacity) noexcept : capacity_(capacity) {}
  [[nodiscard]] std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] void* reallocate(void* memory, std::size_t old_size, std::size_t size) noexcept;

  std::shared_ptr<DocumentPool> pool_;  // set while the block is in use
  std::size_t capacity_;
  std::size_t used_ = 0;
  std::size_t last_ = 0;  // start of the newest allocation, the only one that can grow in place
};

/// Keeps blocks of destroyed documents for reuse. Threads: any; a document may be destroyed on another thread than
/// the one that created it, and after all other references to the pool are gone.
class DocumentPool {
 public:
  /// Blocks over this size (1 MiB) are freed instead of kept, so that one large document does not occupy memory
  /// forever.
  static constexpr std::size_t largest_kept = std::size_t{1} << 20U;

  /// At most `most_in_use` blocks are in use at the same time; further documents use the heap. The limit on the number
  /// of blocks bounds the memory that unused parts of blocks waste when a program keeps many documents.
  explicit DocumentPool(std::size_t most_in_use = std::numeric_limits<std::size_t>::max()) noexcept
      : most_in_use_(most_in_use) {}
  DocumentPool(const DocumentPool&) = delete;
  DocumentPool& operator=(const DocumentPool&) = delete;
  ~DocumentPool();

  /// A block with at least `size` bytes; the block keeps the pool alive. Null when too many blocks are in use. Throws
  /// std::bad_alloc.
  [[nodiscard]] static Block* take(const std::shared_ptr<DocumentPool>& from, std::size_t size);

 private:
  friend class Block;
  void give(Block* block) noexcept;
  static void destroy(Block* block) noexcept;

  const std::size_t most_in_use_;
  std::atomic<std::size_t> in_use_{0};
  Slots<Block, 8> blocks_;
};

/// Allocates one object and its reference count at the start of a block; destroying the object releases the block.
template <typename T>
struct BlockAllocator {
  using value_type = T;
  explicit BlockAllocator(Block* into) noexcept : block(into) {}
  template <typename U>
  explicit BlockAllocator(const BlockAllocator<U>& other) noexcept : block(other.block) {}

  T* allocate(std::size_t count) {
    void* memory = block->allocate(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* /*memory*/, std::size_t /*count*/) noexcept { block->release(); }
  template <typename U>
  friend bool operator==(const BlockAllocator& a, const BlockAllocator<U>& b) noexcept {
    return a.block == b.block;
  }

  Block* block;
};

}  // namespace billcore::detail
