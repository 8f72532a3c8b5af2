// What the loop uses of an operation and of its result.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "billcore/operation.h"
#include "billcore/operation.hpp"

namespace billcore::capi {

struct OperationUse {
  Operation request;
  bool raise_on_error;
};

/// Uses an operation. Throws Error(invalid_argument) for an operation that cannot be sent; a write has no second use.
[[nodiscard]] OperationUse use(billcore_operation* operation);

/// Whether the operation reads one record.
[[nodiscard]] bool is_get(const billcore_operation* operation);

[[nodiscard]] billcore_result_kind result_of(const billcore_operation* operation);

/// Memory for a handle, which is taken before a request is sent, so that a lack of memory after the answer cannot hide
/// that a write was done.
template <typename Handle>
class Reserved {
 public:
  template <typename... Arguments>
  [[nodiscard]] Handle* make(Arguments&&... arguments) {
    auto* const made = new (memory_.get()) Handle(std::forward<Arguments>(arguments)...);
    static_cast<void>(memory_.release());
    return made;
  }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { ::operator delete(memory); }
  };
  std::unique_ptr<void, Free> memory_{::operator new(sizeof(Handle))};
};

}  // namespace billcore::capi
