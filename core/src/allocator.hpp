// The one place documents get their memory from, so that pooling touches one file.
#pragma once

#include <cstddef>

namespace billcore::detail {

struct Allocator {
  void* (*allocate)(void* context, std::size_t size);
  void* (*reallocate)(void* context, void* memory, std::size_t old_size, std::size_t size);
  void (*release)(void* context, void* memory);
  void* context;
};

/// The allocator for a document about to be parsed; a document gives its memory back through the same one.
[[nodiscard]] Allocator document_allocator() noexcept;

}  // namespace billcore::detail
