// Calls functions of the C ABI while allocations fail, checks their outputs, frees the results, and turns the error of
// a failed call into a C++ exception, which judge.cpp judges.
#pragma once

#include <billcore.h>
#include <billcore/arrow.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "interposer.h"
#include "scenario.hpp"

namespace torture::abi {

template <typename T>
void release(T&) {}  // for plain values, which need no release
inline void release(billcore_buf& given) { billcore_buf_free(&given); }
#define BILLCORE_RELEASE(type) \
  inline void release(billcore_##type*& given) { billcore_##type##_free(given); }
BILLCORE_RELEASE(cancel)
BILLCORE_RELEASE(client)
BILLCORE_RELEASE(error)
BILLCORE_RELEASE(event)
BILLCORE_RELEASE(headers)
BILLCORE_RELEASE(list)
BILLCORE_RELEASE(loop)
BILLCORE_RELEASE(many)
BILLCORE_RELEASE(operation)
BILLCORE_RELEASE(options)
BILLCORE_RELEASE(order)
BILLCORE_RELEASE(order_list)
BILLCORE_RELEASE(order_page)
BILLCORE_RELEASE(page)
BILLCORE_RELEASE(product)
BILLCORE_RELEASE(resource)
BILLCORE_RELEASE(response)
BILLCORE_RELEASE(response_info)
BILLCORE_RELEASE(result)
BILLCORE_RELEASE(subscription)
BILLCORE_RELEASE(value)
BILLCORE_RELEASE(value_iterator)
BILLCORE_RELEASE(verifier)
BILLCORE_RELEASE(verifier_options)
BILLCORE_RELEASE(verifier_stream)
#undef BILLCORE_RELEASE
template <typename T>
void release_arrow(T& given) {
  if (given.release != nullptr) given.release(&given);
}
inline void release(ArrowArray& given) { release_arrow(given); }
inline void release(ArrowSchema& given) { release_arrow(given); }

template <typename T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* given) : given_(given) {}
  Owned(Owned&& other) noexcept : given_(std::exchange(other.given_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(given_, other.given_);
    return *this;
  }
  ~Owned() { release(given_); }
  T* give_up() { return std::exchange(given_, nullptr); }
  operator T*() const { return given_; }  // NOLINT: implicit, so that tests pass handles as C programs do

 private:
  T* given_ = nullptr;
};

inline billcore_str text(std::string_view given) { return {given.data(), given.size()}; }

/// Throws the error of a failed call as a billcore::Error, which judge.cpp judges. First calls torture_end(), because
/// throwing an exception allocates memory.
[[noreturn]] inline void raise(billcore_status status, billcore_error* err) {
  torture_end();
  const std::unique_ptr<billcore_error, decltype(&billcore_error_free)> owned(err, &billcore_error_free);
  require(err != nullptr, "a failed call gives no error");
  require(billcore_error_status(err) == status, "the error has another status than its call");
  const std::string message = billcore_error_message(err).data;
  if (status == BILLCORE_ERROR_OUT_OF_MEMORY) {
    require(message == "out of memory", "an error without memory has another message");
    throw std::bad_alloc();
  }
  billcore::ErrorDetail detail;
  detail.outcome_unknown = billcore_error_outcome_unknown(err);
  detail.cause = static_cast<billcore::ErrorCode>(billcore_error_cause(err));
  if (billcore_error_attempted_at(err, nullptr)) detail.attempted_at = billcore::Instant();
  throw billcore::Error(static_cast<billcore::ErrorCode>(status), message, detail);
}

template <typename T>
bool is_zero(const T& value) {
  const T zero{};
  return std::memcmp(&value, &zero, sizeof value) == 0;
}

template <typename Parameters, std::size_t first, typename Numbers>
struct Outputs;
template <typename... P, std::size_t first, std::size_t... number>
struct Outputs<std::tuple<P...>, first, std::index_sequence<number...>> {
  using type = std::tuple<std::remove_pointer_t<std::tuple_element_t<first + number, std::tuple<P...>>>...>;
};

/// Calls `function` with these inputs and returns its outputs, which are the parameters between the inputs and the last
/// parameter, `err`.
template <typename... P, typename... In>
auto outputs_of(billcore_status (*function)(P...), const In&... in) {
  constexpr auto count = sizeof...(P) - sizeof...(In) - 1;
  typename Outputs<std::tuple<P...>, sizeof...(In), std::make_index_sequence<count>>::type outputs;
  billcore_error* err = nullptr;
  const auto status = std::apply(
      [&](auto&... out) {
        (std::memset(static_cast<void*>(&out), 0x55, sizeof out), ...);
        return function(in..., &out..., &err);
      },
      outputs);
  if (status == BILLCORE_OK) return outputs;
  const bool zero = std::apply([](const auto&... out) { return (is_zero(out) && ...); }, outputs);
  if (!zero) {
    torture_end();
    billcore_error_free(err);
    throw Wrong("an output is set although its call failed");
  }
  if (status != BILLCORE_DONE) raise(status, err);
  return outputs;
}

template <typename... P, typename... In>
void call(billcore_status (*function)(P...), const In&... in) {
  auto outputs = outputs_of(function, in...);
  std::apply([](auto&... out) { (release(out), ...); }, outputs);
}

/// Calls `function`, which must fail with the status `expected`, unless memory runs out.
template <typename... P, typename... In>
void refused(billcore_status expected, billcore_status (*function)(P...), const In&... in) {
  try {
    call(function, in...);
  } catch (const billcore::Error& error) {
    if (error.code() == static_cast<billcore::ErrorCode>(expected)) return;
    throw;
  }
  throw Wrong("it should have been refused");
}

/// Calls `function` and returns its first output, a handle, in an Owned that frees it.
template <typename... P, typename... In>
auto make(billcore_status (*function)(P...), const In&... in) {
  return Owned(std::get<0>(outputs_of(function, in...)));
}

/// The arguments for the functions under test. Each scenario makes its arguments in prepare(), before any allocation
/// fails.
struct Given {
  Owned<billcore_event> event;
  Owned<billcore_resource> resource;
  Owned<billcore_value> value;  // a JSON object
  Owned<billcore_value_iterator> iterator;
  Owned<billcore_verifier_options> verifier_options;
  Owned<billcore_verifier> verifier;
  Owned<billcore_headers> headers;
  Owned<billcore_verifier_stream> stream;
  std::string signature;
  std::int64_t amount = 0;  // of the charge that a scenario makes

  Owned<billcore_options> options;
  Owned<billcore_options> changes;
  Owned<billcore_options> request;
  Owned<billcore_options> call;
  Owned<billcore_cancel> cancel;
  Owned<billcore_options> query;
  Owned<billcore_operation> update;
  Owned<billcore_operation> read;
  Owned<billcore_operation> listing;
  Owned<billcore_operation> custom;
  Owned<billcore_client> client;
  Owned<billcore_loop> loop;
  Owned<billcore_list> list;
  Owned<billcore_page> page;
  Owned<billcore_resource> item;
  Owned<billcore_response> response;
  Owned<billcore_response_info> info;
};

void prepare_webhook(Given& given);
void prepare_client(Given& given, const std::string& base_url);

/// Drives the loop until its one call, which has no callback, has ended. Returns the result; if the call failed with
/// another status than `expected`, throws its error.
Owned<billcore_result> end_of_call(billcore_loop* loop, billcore_status expected = BILLCORE_OK);

/// A scenario that calls one exported function.
class Call : public Scenario {
 public:
  Call(void (*step)(Given&), void (*make_given)(Given&, const std::string&), const Place& place)
      : step_(step), prepare_(make_given), place_(place) {}
  void prepare() override { prepare_(given_, place_.base_url); }
  void run() override {
    given_.amount = place_.amount;
    step_(given_);
  }
  void after(bool) override {
    given_.amount = place_.amount_after;
    step_(given_);
  }

 private:
  void (*step_)(Given&);
  void (*prepare_)(Given&, const std::string&);
  Place place_;
  Given given_;
};

// The tables of exported functions. Each row has a function and a step that calls this function.
struct Function {
  std::string_view name;
  void (*call)(Given&);
};

const std::vector<Function>& webhook_functions();
const std::vector<Function>& client_functions();
const std::vector<Entry>& loop_scenarios();

/// A row of a table of functions: the function and its inputs. The inputs may use members of the Given `g`.
#define CALL(function, ...)                                                                   \
  {                                                                                           \
#function, []([[maybe_unused]] Given & g) { call(&function __VA_OPT__(, ) __VA_ARGS__); } \
  }

}  // namespace torture::abi
