// Conversion between the C types and those of the core, and helpers for one-line getters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "billcore/json.hpp"
#include "billcore/values.hpp"
#include "shared/guard.hpp"
#include "shared/handles.hpp"

namespace billcore::capi {

inline std::string_view view(billcore_str text) {
  // No object is this large, so the length is a negative or uninitialised number; the function does not read the data.
  if (text.len >= static_cast<std::size_t>(PTRDIFF_MAX)) {
    refuse("a text has a length that no memory holds: pass its number of bytes");
  }
  if (text.data == nullptr && text.len > 0) refuse("a text has a length but no data");
  return text.data == nullptr ? std::string_view("") : std::string_view(text.data, text.len);
}

inline std::string text(billcore_str given) { return std::string(view(given)); }

/// A text that may be missing: returns nullopt if the pointer is NULL, and an empty text if only the length is 0.
inline std::optional<std::string_view> optional_view(billcore_str text) {
  const auto given = view(text);
  if (text.data == nullptr) return std::nullopt;
  return given;
}

/// Passes `text` to C without a copy. The data is never NULL, so an empty text is a valid C string.
inline billcore_str borrow(std::string_view text) noexcept {
  return text.data() == nullptr ? billcore_str{"", 0} : billcore_str{text.data(), text.size()};
}

/// Returns a shared owner of a callback's context. The context is released with the last copy of the owner, or when
/// the allocation of the owner fails.
inline std::shared_ptr<void> owned(void* context, billcore_release release) {
  return {context, [release](void* pointer) noexcept {
            try {
              if (release != nullptr) release(pointer);
            } catch (...) {  // NOLINT(bugprone-empty-catch) a C++ callback threw; there is no caller to report it to
            }
          }};
}

// put() writes a result of the core to an output parameter.
inline void put(billcore_str* out, std::string_view text) noexcept { *out = borrow(text); }
inline void put(bool* out, bool flag) noexcept { *out = flag; }
inline void put(std::int64_t* out, std::int64_t number) noexcept { *out = number; }
inline void put(std::int32_t* out, std::int32_t number) noexcept { *out = number; }
inline void put(double* out, double number) noexcept { *out = number; }
inline void put(billcore_buf* out, std::string_view text) {
  char* data = new char[text.size() + 1];
  std::memcpy(data, text.data(), text.size());
  data[text.size()] = '\0';
  *out = {data, text.size()};
}

/// Makes a new handle from a result: every struct in handles.hpp has a constructor that takes the object that it
/// exposes.
template <typename Handle, typename... Parts>
void put_new(Handle** out, Parts&&... parts) {
  if constexpr (is_resource<Handle>) {
    *out = reinterpret_cast<Handle*>(new billcore_resource(std::forward<Parts>(parts)...));
  } else {
    *out = new Handle(std::forward<Parts>(parts)...);
  }
}

/// One item of a list; refuses an index beyond the end of the list.
template <typename Items>
const auto& item_at(const Items& items, std::size_t index) {
  if (index >= items.size()) {
    refuse("there is no item " + std::to_string(index) + ": there are " + std::to_string(items.size()));
  }
  return items[index];
}

// Getters. `read` is a member function of the core's class, or any callable that takes the object.
template <typename Handle, typename Read, typename Out>
billcore_status get(const Handle* self, Read read, Out* out, billcore_error** err) noexcept {
  return call(
      err, [&] { put(out, std::invoke(read, handle(self).view)); }, out);
}

/// Writes a field that may be null to an output parameter.
template <typename Handle, typename Read, typename Out>
billcore_status get(const Handle* self, Read read, Out* out, bool* present, billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        if (const auto value = std::invoke(read, handle(self).view)) {
          put(out, *value);
          *present = true;
        }
      },
      out, present);
}

/// Instants in C: microseconds since 1970-01-01T00:00:00Z.
[[nodiscard]] inline std::int64_t micros(Instant instant) noexcept { return instant.time_since_epoch().count(); }
[[nodiscard]] inline Instant instant(std::int64_t micros) noexcept {
  return Instant(std::chrono::microseconds(micros));
}

inline void put_time(billcore_str* text, std::int64_t* unix_micros, const Time& time) noexcept {
  if (text != nullptr) put(text, time.text);
  if (unix_micros != nullptr) put(unix_micros, micros(time.at));
}

template <typename Handle, typename Read>
billcore_status get_time(const Handle* self, Read read, billcore_str* text, std::int64_t* unix_micros,
                         billcore_error** err) noexcept {
  return call(
      err, [&] { put_time(text, unix_micros, std::invoke(read, handle(self).view)); }, Maybe<billcore_str>{text},
      Maybe<std::int64_t>{unix_micros});
}

template <typename Handle, typename Read>
billcore_status get_time(const Handle* self, Read read, billcore_str* text, std::int64_t* unix_micros, bool* present,
                         billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        if (const auto time = std::invoke(read, handle(self).view)) {
          put_time(text, unix_micros, *time);
          *present = true;
        }
      },
      Maybe<billcore_str>{text}, Maybe<std::int64_t>{unix_micros}, present);
}

/// Makes a new handle from the result of `read`.
template <typename Handle, typename Read, typename Out>
billcore_status get_new(const Handle* self, Read read, Out** out, billcore_error** err) noexcept {
  return call(
      err, [&] { put_new(out, std::invoke(read, handle(self).view)); }, out);
}

template <typename Handle, typename Read, typename Out>
billcore_status get_new(const Handle* self, Read read, Out** out, bool* present, billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        if (auto value = std::invoke(read, handle(self).view)) {
          put_new(out, *std::move(value));
          *present = true;
        }
      },
      out, present);
}

/// Gets the number of items in the list that `read` returns.
template <typename Handle, typename Read>
billcore_status get_count(const Handle* self, Read read, std::size_t* count, billcore_error** err) noexcept {
  return call(
      err, [&] { *count = std::invoke(read, handle(self).view).size(); }, count);
}

}  // namespace billcore::capi
