// Checks and converts values of options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "billcore/options.hpp"
#include "shared/guard.hpp"

namespace billcore::capi {

struct Pair {
  std::string key;
  std::string value;
};

inline int small(std::string_view name, std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
    refuse(std::string(name) + " must fit in 32 bits");
  }
  return static_cast<int>(value);
}

inline std::size_t size(std::string_view name, std::int64_t value) {
  if (value < 0) refuse(std::string(name) + " must be more than 0");
  return static_cast<std::size_t>(value);
}

/// Refuses the value false for an option whose name begins with no_, such as no_proxy.
inline void require_true(std::string_view name, bool value) {
  if (!value) refuse(std::string(name) + " takes true only: leave it out instead");
}

}  // namespace billcore::capi
