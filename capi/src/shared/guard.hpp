// The one guard: every fallible function of the C ABI runs its body in call(), and no exception gets past it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "billcore/error.h"
#include "billcore/error.hpp"

/// Empty: out of memory, which has one static object, so that reporting it allocates nothing.
struct billcore_error {
  std::optional<billcore::Error> error;
};

namespace billcore::capi {

/// This library's own; which one it is shows in its being empty, so either library can "free" it.
inline billcore_error out_of_memory;

inline billcore_status fail(billcore_error** err, const Error& error) noexcept {
  if (err != nullptr) {
    auto* made = new (std::nothrow) billcore_error{error};
    *err = made != nullptr ? made : &out_of_memory;
    if (made == nullptr) return BILLCORE_ERROR_OUT_OF_MEMORY;
  }
  return static_cast<billcore_status>(error.code());
}

inline billcore_status fail_out_of_memory(billcore_error** err) noexcept {
  if (err != nullptr) *err = &out_of_memory;
  return BILLCORE_ERROR_OUT_OF_MEMORY;
}

inline billcore_status fail_internal(billcore_error** err, const char* what) noexcept {
  try {
    return fail(err, Error(ErrorCode::internal, std::string("internal error, please report it: ") + what));
  } catch (...) {
    return fail_out_of_memory(err);
  }
}

[[noreturn]] inline void refuse(std::string message) { throw Error(ErrorCode::invalid_argument, std::move(message)); }

/// An output that may be NULL.
template <typename T>
struct Maybe {
  T* out;
  explicit operator bool() const noexcept { return out != nullptr; }
};

template <typename T>
void zero(T* out) noexcept {
  if (out != nullptr) *out = T{};
}
template <typename T>
void zero(const Maybe<T>& maybe) noexcept {
  zero(maybe.out);
}

template <typename T>
void require_output(T* out) {
  if (out == nullptr) refuse("an output is NULL: pass the address of a variable");
}
template <typename T>
void require_output(const Maybe<T>&) {}

/// A handle that must be given.
template <typename Handle>
Handle& handle(Handle* given) {
  if (given == nullptr) refuse(std::string("a handle is NULL: ") + Handle::name);
  return *given;
}

/// Runs a body that returns nothing (then the status is OK) or a status. Outputs are zero unless it succeeds.
template <typename Body, typename... Outputs>
billcore_status call(billcore_error** err, Body&& body, Outputs... outputs) noexcept {
  const auto reset = [&] { (zero(outputs), ...); };
  if (err != nullptr) *err = nullptr;
  reset();
  try {
    (require_output(outputs), ...);
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return BILLCORE_OK;
    } else {
      return body();
    }
  } catch (const Error& error) {
    reset();
    return fail(err, error);
  } catch (const std::bad_alloc&) {
    reset();
    return fail_out_of_memory(err);
  } catch (const std::exception& error) {
    reset();
    return fail_internal(err, error.what());
  } catch (...) {
    reset();
    return fail_internal(err, "unknown exception");
  }
}

}  // namespace billcore::capi
