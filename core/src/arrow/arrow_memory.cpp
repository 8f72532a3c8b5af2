#include "arrow/arrow_memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace billcore::detail {
namespace {

using ArrowBlock = ArrowScope::Block;

// The list of blocks of this thread's innermost ArrowScope; null outside of any scope. A block that is allocated in a
// scope is in the list of that scope; any other block is in no list.
thread_local ArrowBlock* scope = nullptr;

void* failed() {
  if (scope != nullptr) throw std::bad_alloc();
  return nullptr;
}

}  // namespace

ArrowScope::ArrowScope() noexcept : outer_(scope), blocks_{&blocks_, &blocks_} { scope = &blocks_; }

ArrowScope::~ArrowScope() {
  scope = outer_;
  for (ArrowBlock* block = blocks_.next; block != &blocks_;) std::free(std::exchange(block, block->next));
}

void ArrowScope::keep() noexcept {
  for (ArrowBlock* block = blocks_.next; block != &blocks_;) *std::exchange(block, block->next) = {nullptr, nullptr};
  blocks_ = {&blocks_, &blocks_};
}

// nanoarrow's utils.c calls these functions to allocate memory (see core/cmake/nanoarrow.cmake).
extern "C" {
[[gnu::visibility("hidden")]] void* billcore_arrow_malloc(std::size_t size);
[[gnu::visibility("hidden")]] void* billcore_arrow_realloc(void* memory, std::size_t size);
[[gnu::visibility("hidden")]] void billcore_arrow_free(void* memory) noexcept;
}

void* billcore_arrow_malloc(std::size_t size) {
  if (size > SIZE_MAX - sizeof(ArrowBlock)) return failed();
  auto* const block = static_cast<ArrowBlock*>(std::malloc(sizeof(ArrowBlock) + size));
  if (block == nullptr) return failed();
  *block = {scope, scope == nullptr ? nullptr : scope->previous};
  if (scope != nullptr) block->next->previous = block->previous->next = block;
  return block + 1;
}

void* billcore_arrow_realloc(void* memory, std::size_t size) {
  if (memory == nullptr) return billcore_arrow_malloc(size);
  if (size > SIZE_MAX - sizeof(ArrowBlock)) return failed();
  auto* const block =
      static_cast<ArrowBlock*>(std::realloc(static_cast<ArrowBlock*>(memory) - 1, sizeof(ArrowBlock) + size));
  if (block == nullptr) return failed();
  if (block->next != nullptr) block->next->previous = block->previous->next = block;  // realloc() may move the block
  return block + 1;
}

void billcore_arrow_free(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* const block = static_cast<ArrowBlock*>(memory) - 1;
  if (block->next != nullptr) {
    block->next->previous = block->previous;
    block->previous->next = block->next;
  }
  std::free(block);
}

}  // namespace billcore::detail
