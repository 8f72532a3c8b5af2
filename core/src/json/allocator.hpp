// The one place documents get their memory from. Internal.
#pragma once

#include <cstddef>
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

/// Memory of the heap, for a document of any size.
[[nodiscard]] Allocator heap_allocator() noexcept;

class DocumentPool;

/// Memory for one document, handed out front to back and given back as a whole. Threads: one at a time.
class alignas(std::max_align_t) Block {
 public:
  /// Null when it is full.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;
  [[nodiscard]] Allocator allocator() noexcept;
  /// Ends the use of the block: it goes back to its pool.
  void release() noexcept;

 private:
  friend class DocumentPool;
  explicit Block(std::size_t capacity) noexcept : capacity_(capacity) {}
  [[nodiscard]] std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] void* reallocate(void* memory, std::size_t old_size, std::size_t size) noexcept;

  std::shared_ptr<DocumentPool> pool_;  // while in use
  std::size_t capacity_;
  std::size_t used_ = 0;
  std::size_t last_ = 0;  // where the newest piece begins: that one can grow
};

/// Keeps the blocks of documents that are gone for those to come. Threads: any; a document may go in another thread than
/// it came from, and after everybody else has left the pool.
class DocumentPool {
 public:
  /// Larger blocks are not kept, so that one large document does not hold memory for ever.
  static constexpr std::size_t largest_kept = std::size_t{1} << 20U;

  DocumentPool() = default;
  DocumentPool(const DocumentPool&) = delete;
  DocumentPool& operator=(const DocumentPool&) = delete;
  ~DocumentPool();

  /// A block with room for `size` bytes, which holds its pool. Throws std::bad_alloc.
  [[nodiscard]] static Block* take(const std::shared_ptr<DocumentPool>& from, std::size_t size);

 private:
  friend class Block;
  void give(Block* block) noexcept;
  static void destroy(Block* block) noexcept;

  Slots<Block, 8> blocks_;
};

/// Puts one object and its reference count at the beginning of a block; when the object goes, so does the block.
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
