#include "json/allocator.hpp"

#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define BILLCORE_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BILLCORE_POISONS 1
#endif
#endif
#if defined(BILLCORE_POISONS) && __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#undef BILLCORE_POISONS  // some tools get the compiler's flags but lack the sanitizer's headers
#endif

namespace billcore::detail {
namespace {

constexpr std::size_t alignment = alignof(std::max_align_t);
constexpr std::size_t smallest_block = std::size_t{16} << 10U;

std::size_t aligned(std::size_t size) noexcept { return (size + alignment - 1) / alignment * alignment; }

// Marks pooled memory as inaccessible for AddressSanitizer, as if it had been freed.
void poison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef BILLCORE_POISONS
  ASAN_POISON_MEMORY_REGION(memory, size);
#endif
}
void unpoison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef BILLCORE_POISONS
  ASAN_UNPOISON_MEMORY_REGION(memory, size);
#endif
}

}  // namespace

Allocator heap_allocator() noexcept {
  return {[](void*, std::size_t size) { return std::malloc(size); },
          [](void*, void* memory, std::size_t, std::size_t size) { return std::realloc(memory, size); },
          [](void*, void* memory) { std::free(memory); }, nullptr};
}

void* Block::allocate(std::size_t size) noexcept {
  if (size > capacity_ - used_ || aligned(size) > capacity_ - used_) return nullptr;
  last_ = used_;
  used_ += aligned(size);
  unpoison(begin() + last_, size);
  return begin() + last_;
}

void* Block::reallocate(void* memory, std::size_t old_size, std::size_t size) noexcept {
  if (memory == begin() + last_) {
    const std::size_t before = used_;
    used_ = last_;
    void* grown = allocate(size);
    if (grown == nullptr) used_ = before;
    return grown;
  }
  void* moved = allocate(size);
  if (moved != nullptr) std::memcpy(moved, memory, old_size < size ? old_size : size);
  return moved;
}

Allocator Block::allocator() noexcept {
  return {[](void* block, std::size_t size) { return static_cast<Block*>(block)->allocate(size); },
          [](void* block, void* memory, std::size_t old_size, std::size_t size) {
            return static_cast<Block*>(block)->reallocate(memory, old_size, size);
          },
          [](void*, void*) {}, this};
}

void Block::release() noexcept {
  const auto pool = std::move(pool_);  // `pool` may be the last reference to the pool, so keep it until give() returns
  pool->give(this);
}

DocumentPool::~DocumentPool() {
  while (Block* block = blocks_.take()) destroy(block);
}

Block* DocumentPool::take(const std::shared_ptr<DocumentPool>& from, std::size_t size) {
  if (from->in_use_.load(std::memory_order_relaxed) >= from->most_in_use_) return nullptr;
  Block* block = from->blocks_.take();
  if (block != nullptr && block->capacity_ < size) {
    destroy(block);
    block = nullptr;
  }
  if (block == nullptr) {
    const std::size_t capacity = aligned(size < smallest_block ? smallest_block : size);
    void* memory = std::malloc(sizeof(Block) + capacity);
    if (memory == nullptr) throw std::bad_alloc();
    block = new (memory) Block(capacity);
    poison(block->begin(), capacity);
  }
  block->used_ = block->last_ = 0;
  block->pool_ = from;
  from->in_use_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void DocumentPool::give(Block* block) noexcept {
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  poison(block->begin(), block->capacity_);
  if (block->capacity_ > largest_kept || !blocks_.keep(block)) destroy(block);
}

void DocumentPool::destroy(Block* block) noexcept {
  unpoison(block->begin(), block->capacity_);  // after free() the heap may reuse this memory
  block->~Block();
  std::free(block);
}

}  // namespace billcore::detail
