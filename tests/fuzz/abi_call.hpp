// Calls any function of the C ABI. The types of a function's parameters select the kinds of arguments, the input
// selects their values: live handles, NULL, texts, numbers.
#pragma once

#include <billcore.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "abi_steps.hpp"  // written by make_abi_steps.py
#include "bytes.hpp"

namespace billcore::fuzz::abi {

inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// A handle of a specific type, such as billcore_order, is kept and freed as the general type, billcore_resource.
#define BILLCORE_KIND(type, any) \
  inline billcore_##any* any_kind(const billcore_##type* given) { return (billcore_##any*)given; }
#define BILLCORE_HANDLE(type) \
  BILLCORE_KIND(type, type)   \
  inline void release(billcore_##type* given) { billcore_##type##_free(given); }
BILLCORE_HANDLES(BILLCORE_HANDLE, )
BILLCORE_KINDS(BILLCORE_KIND)

template <typename T>
concept Handle = requires(const T* given) {
  any_kind(given);
};

/// The live handles of one type.
template <typename T>
struct Pool {
  std::vector<T*> handles;
  ~Pool() { clear(); }
  void clear() {
    for (auto* handle : std::exchange(handles, {})) release(handle);
  }
};
#define BILLCORE_COMMA ,
#define BILLCORE_POOL(type) Pool<billcore_##type>
using Pools = std::tuple<BILLCORE_HANDLES(BILLCORE_POOL, BILLCORE_COMMA)>;
constexpr std::size_t most_handles = 32;  // of one type

inline volatile std::size_t seen;
/// Reads every byte, for AddressSanitizer to check. A text ends with a NUL, which a slice of JSON need not have.
inline void touch(billcore_str text) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < text.len; ++i) sum += static_cast<unsigned char>(text.data[i]);
  seen = sum;
}

class Caller {
 public:
  Caller(Bytes& plan, const std::vector<std::string_view>& words) : plan_(plan), words_(words) {}

  /// Calls a function that can fail.
  template <typename... P>
  void call(billcore_status (*function)(P...)) {
    constexpr auto count = sizeof...(P) - 1;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      using Types = std::tuple<P...>;
      std::tuple<Argument<std::tuple_element_t<i, Types>>...> arguments;
      (std::get<i>(arguments).choose(*this), ...);
      billcore_error* err = reinterpret_cast<billcore_error*>(this);
      const bool with_error = plan_.below(16) != 15;
      const auto status = function(std::get<i>(arguments).give()..., with_error ? &err : nullptr);
      (std::get<i>(arguments).check(*this, status == BILLCORE_OK), ...);
      judge(status, with_error ? err : nullptr, with_error);
    }
    (std::make_index_sequence<count>());
  }

  /// Calls a function that cannot fail.
  template <typename Result, typename... P>
  void get(Result (*function)(P...)) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      std::tuple<Argument<P>...> arguments;
      (std::get<i>(arguments).choose(*this), ...);
      if constexpr (std::is_void_v<Result>) {
        function(std::get<i>(arguments).give()...);
      } else {
        const auto result = function(std::get<i>(arguments).give()...);
        if constexpr (std::is_same_v<Result, billcore_str>) touch(result);
        if constexpr (std::is_same_v<Result, const char*>) promise(result[0] != '\0', "a name is not empty");
      }
    }
    (std::make_index_sequence<sizeof...(P)>());
  }

  /// Frees one handle; the handles that were made from it must still work.
  void free_one() {
    const auto which = plan_.below(std::tuple_size_v<Pools>);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (void)((i == which && (free_of(std::get<i>(pools_)), true)) || ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Pools>>());
  }

 private:
  template <typename T>
  struct Argument;  // one parameter: chosen, passed, and checked after the call

  template <typename T>
  auto& pool() {
    return std::get<Pool<std::remove_pointer_t<decltype(any_kind(static_cast<T*>(nullptr)))>>>(pools_).handles;
  }
  /// Selects a handle by a byte of the plan, counted from the newest: 0 is the last result, 255 is NULL.
  template <typename T>
  T* handle() {
    auto& all = pool<T>();
    const auto byte = plan_.byte();
    const auto at = byte % (all.size() + 1);
    return byte == 255 || at == all.size() ? nullptr : reinterpret_cast<T*>(all[all.size() - 1 - at]);
  }
  template <typename T>
  void keep(T* made) {
    auto& all = pool<T>();
    all.push_back(any_kind(made));
    if (all.size() <= most_handles) return;
    release(all.front());
    all.erase(all.begin());
  }
  template <typename T>
  void free_of(Pool<T>& from) {
    if (from.handles.empty()) return;
    const auto at = static_cast<std::ptrdiff_t>(plan_.below(from.handles.size()));
    release(from.handles.at(static_cast<std::size_t>(at)));
    from.handles.erase(from.handles.begin() + at);
  }

  billcore_str text() {
    switch (plan_.below(16)) {
      case 0:
        return {nullptr, 0};
      case 1:
        return {nullptr, plan_.byte()};
      case 2:
        return {"x", SIZE_MAX - plan_.byte()};
      case 3:
      case 4:
      case 5: {
        const auto own = plan_.text();
        return {own.data(), own.size()};
      }
      case 6:
        return {last_.data(), last_.size()};
      default: {
        const auto word = words_.at(plan_.below(words_.size()));
        return {word.data(), word.size()};
      }
    }
  }

  void judge(billcore_status status, billcore_error* err, bool with_error) {
    promise(std::strcmp(billcore_status_name(status), "UNKNOWN") != 0, "a status has a name");
    promise(status != BILLCORE_ERROR_INTERNAL, "nothing unforeseen");
    if (!with_error) return;
    promise((err == nullptr) == (status == BILLCORE_OK || status == BILLCORE_DONE),
            "an error, if and only if it fails");
    if (err == nullptr) return;
    const auto message = billcore_error_message(err);
    promise(billcore_error_status(err) == status, "the error has the status of its call");
    promise(message.len > 0 && std::strlen(message.data) == message.len, "an error says what is wrong");
    keep(err);
  }

  Bytes& plan_;
  const std::vector<std::string_view>& words_;
  Pools pools_;
  std::string last_;  // text of the last buffer that a function returned
};

template <typename T>
struct Caller::Argument {  // a text, a number, a function, or its user pointer
  T value{};
  void choose(Caller& caller) {
    if constexpr (std::is_same_v<T, billcore_str>) {
      value = caller.text();
    } else if constexpr (std::is_same_v<T, billcore_clock>) {
      if (caller.plan_.flag()) value = [](void*) { return std::int64_t{1'745'566'200'000'000}; };
    } else if constexpr (std::is_same_v<T, billcore_interrupt>) {
      if (caller.plan_.flag()) value = [](void*) { return false; };
    } else if constexpr (std::is_same_v<T, bool>) {
      value = caller.plan_.flag();
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(caller.plan_.below(4) < 3 ? caller.plan_.byte() : caller.plan_.number(sizeof(T)));
    } else if constexpr (std::is_same_v<T, const char*>) {
      value = caller.plan_.flag() ? "a text" : nullptr;
    }
  }
  T give() { return value; }
  void check(Caller&, bool) {}
};

template <Handle T>
struct Caller::Argument<T*> {
  T* value = nullptr;
  void choose(Caller& caller) { value = caller.handle<T>(); }
  T* give() { return value; }
  void check(Caller&, bool) {}
};

template <typename T>
requires(!Handle<T> && !std::is_void_v<T> && !std::is_const_v<T> &&
         !std::is_function_v<T>) struct Caller::Argument<T*> {  // an output
  T value;
  bool given = true;
  void choose(Caller& caller) {
    std::memset(static_cast<void*>(&value), 0x55, sizeof value);
    given = caller.plan_.below(16) != 15;
  }
  T* give() { return given ? &value : nullptr; }
  void check(Caller& caller, bool succeeded) {
    if (!given) return;
    if (!succeeded) {
      const T zero{};
      promise(std::memcmp(&value, &zero, sizeof value) == 0, "an output is zero unless the call succeeds");
    } else if constexpr (std::is_pointer_v<T>) {
      if (value != nullptr) caller.keep(value);
    } else if constexpr (std::is_same_v<T, billcore_str>) {
      touch(value);
    } else if constexpr (std::is_same_v<T, billcore_buf>) {
      promise(value.data != nullptr && value.data[value.len] == '\0', "a buffer ends with a NUL");
      caller.last_.assign(value.data, value.len);
      billcore_buf_free(&value);
    }
  }
};

}  // namespace billcore::fuzz::abi
