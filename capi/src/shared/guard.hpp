// The guard of the C ABI: every function that can fail runs its body in call(), which catches all exceptions.
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

/// An error. `error` is empty only in the static objects that report without an allocation that memory ran out.
struct billcore_error {
  std::optional<billcore::Error> error;
  bool outcome_unknown = false;  // of a static object
};

namespace billcore::capi {

/// Static objects, one of each per library: memory ran out, and it ran out after a write was sent. billcore_error_free of
/// either library recognises them by their empty `error` and does not free them.
inline billcore_error out_of_memory;
inline billcore_error out_of_memory_after_send{std::nullopt, true};

/// Whether the error is of a write that was done, or perhaps done.
[[nodiscard]] inline bool may_have_happened(const Error& error) noexcept {
  const auto& detail = error.detail();
  return detail.outcome_unknown || (detail.http_status / 100 == 2 && !detail.method.empty() && detail.method != "GET");
}

inline billcore_status fail(billcore_error** err, const Error& error) noexcept {
  if (err != nullptr) {
    auto* made = new (std::nothrow) billcore_error{error};
    if (made == nullptr) {
      const bool sent = may_have_happened(error);
      *err = sent ? &out_of_memory_after_send : &out_of_memory;
      return sent ? BILLCORE_ERROR_OUTCOME_UNKNOWN : BILLCORE_ERROR_OUT_OF_MEMORY;
    }
    *err = made;
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

/// A caller's text for an error, which is one line: the first 100 bytes, with a `?` for each control character.
[[nodiscard]] inline std::string shown(std::string_view given) {
  std::string out(given.substr(0, 100));
  for (char& c : out) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  return out;
}

/// An output pointer that may be NULL.
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

/// Dereferences a handle; refuses NULL.
template <typename Handle>
Handle& handle(Handle* given) {
  if (given == nullptr) refuse(std::string("a handle is NULL: ") + Handle::name);
  return *given;
}

/// Runs `body` and returns its status, or BILLCORE_OK if the body returns void. Zeroes the outputs unless the body
/// succeeds.
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
