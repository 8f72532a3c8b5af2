// A mark that an object is in use, which refuses a second user instead of making it wait.
#pragma once

#include <atomic>
#include <utility>

#include "shared/arguments.hpp"

namespace billcore::python {

inline bool mark(std::atomic<bool>& flag) noexcept { return flag.exchange(true); }
inline bool mark(bool& flag) noexcept { return std::exchange(flag, true); }

/// Sets the flag while it exists. Throws Error(invalid_argument) if the flag is set already. With an atomic flag, Busy
/// may be used with or without the GIL.
template <typename Flag>
class Busy {
 public:
  Busy(Flag& flag, const char* problem) : flag_(flag) {
    if (mark(flag_)) refuse(problem);
  }
  ~Busy() { flag_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Flag& flag_;
};

}  // namespace billcore::python
