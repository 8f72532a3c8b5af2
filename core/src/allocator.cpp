#include "allocator.hpp"

#include <cstdlib>

namespace billcore::detail {

Allocator document_allocator() noexcept {
  return {[](void*, std::size_t size) { return std::malloc(size); },
          [](void*, void* memory, std::size_t, std::size_t size) { return std::realloc(memory, size); },
          [](void*, void* memory) { std::free(memory); }, nullptr};
}

}  // namespace billcore::detail
