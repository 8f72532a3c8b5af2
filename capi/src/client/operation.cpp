// Operations as values, and their results.
#include "billcore/operation.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "billcore/internal.hpp"
#include "billcore/operations.h"
#include "client/handles.hpp"
#include "client/operation.hpp"
#include "client/operation_table.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using namespace billcore::capi;
using billcore::JsonObject;
using billcore::Operation;
using billcore::RequestOptions;
namespace internal = billcore::internal;

namespace {

using Type = Argument::Type;

constexpr std::array<Argument, 1> of_update{{{"id", Type::integer, true}}};
constexpr std::array<Argument, 3> of_request{
    {{"method", Type::text, true}, {"path", Type::text, true}, {"raise_on_error", Type::flag, false}}};
// These operations take more than a table can list: any field of a product, and the options of any request. They are in
// the members `fields` and `options` of billcore_operation.
constexpr std::array by_hand{
    OperationRow{"products.update", BILLCORE_RESULT_PRODUCT, of_update, nullptr, nullptr},
    OperationRow{"request", BILLCORE_RESULT_RESPONSE, of_request, nullptr, nullptr},
};
constexpr const OperationRow& update = by_hand[0];
constexpr const OperationRow& request = by_hand[1];

const OperationRow* find_in(std::span<const OperationRow> rows, std::string_view name) noexcept {
  for (const auto& row : rows) {
    if (row.name.size() == name.size() && std::memcmp(row.name.data(), name.data(), name.size()) == 0) return &row;
  }
  return nullptr;
}

const OperationRow& find_row(std::string_view name) {
  if (const auto* row = find_in(generated_operations, name)) return *row;
  if (const auto* row = find_in(by_hand, name)) return *row;
  std::vector<std::string_view> names;
  for (const auto& row : generated_operations) names.push_back(row.name);
  for (const auto& row : by_hand) names.push_back(row.name);
  refuse("there is no operation '" + shown(name) + "': the nearest is '" + std::string(nearest(name, names)) + "'");
}

}  // namespace

struct billcore_operation {
  static constexpr const char* name = "billcore_operation";
  explicit billcore_operation(const OperationRow& known) : row(known), given(known.name, known.arguments) {
    if (&row == &update) fields = std::make_unique<JsonObject>();
    if (&row == &request) options = std::make_unique<RequestOptions>();
  }

  void require_unused() const {
    if (is_used.load(std::memory_order_relaxed))
      refuse(std::string(row.name) + " was used, so that it cannot change: make a new operation");
  }

  /// The request, for one use. A write has no second use.
  [[nodiscard]] Operation use() {
    if (row.list != nullptr) refuse(std::string(row.name) + " is a list: use billcore_client_list");
    given.require_all();
    auto made = make();
    if (is_used.exchange(true, std::memory_order_relaxed) && made.is_write()) {
      refuse(std::string(row.name) + " was used, and a second use would send it twice: make a new operation");
    }
    return made;
  }

  std::unique_ptr<billcore_list> use_as_list(const billcore::Client& client, const billcore::CallOptions& call) {
    if (row.list == nullptr) refuse(std::string(row.name) + " is not a list: use billcore_client_perform");
    given.require_all();
    is_used.store(true, std::memory_order_relaxed);
    return row.list(client, given, call);
  }

  // The memory of the operation that was freed last is kept for the next one, so that a program that makes one call after
  // the other allocates it once.
  static void* operator new(std::size_t size) {
    void* kept = spare.exchange(nullptr, std::memory_order_acquire);
    return kept != nullptr ? kept : ::operator new(size);
  }
  static void operator delete(void* freed) noexcept {
    ::operator delete(spare.exchange(freed, std::memory_order_acq_rel));
  }

  /// Whether an error status of the answer is an error.
  [[nodiscard]] bool raises_on_error() const noexcept { return options == nullptr || options->raise_on_error; }

  const OperationRow& row;
  Arguments given;
  std::unique_ptr<JsonObject> fields;       // of update
  std::unique_ptr<RequestOptions> options;  // of request

 private:
  [[nodiscard]] Operation make() const {
    if (row.make != nullptr) return row.make(given);
    if (&row == &update) return billcore::operations::products::update(given.integer(0), *fields);
    return billcore::operations::request(given.text(0), given.text(1), *options);
  }

  static inline std::atomic<void*> spare{nullptr};
  std::atomic<bool> is_used{false};
};

namespace {

/// Changes an operation that was not used.
template <typename Change>
billcore_status change(billcore_operation* operation, Change change, billcore_error** err) noexcept {
  return call(err, [&] {
    auto& self = handle(operation);
    self.require_unused();
    change(self);
  });
}

template <typename Value>
billcore_status set_value(billcore_operation* operation, billcore_str argument, Value value,
                          billcore_error** err) noexcept {
  return change(
      operation,
      [&](auto& self) {
        const auto name = view(argument);
        if (self.fields != nullptr && name != "id") {
          self.fields->set(name, value());
        } else {
          self.given.set(name, value());
        }
      },
      err);
}

// Replaces what an operation has besides its arguments.
template <typename Options>
void replace(billcore_operation& operation, const Options& from) {
  if constexpr (std::is_same_v<Options, JsonObject>) {
    if (operation.fields != nullptr) return void(*operation.fields = from);
  } else if constexpr (std::is_same_v<Options, RequestOptions>) {
    if (operation.options != nullptr) return void(*operation.options = from);
  }
  refuse("these options are of another kind");
}

// `new` takes the memory of the result before it evaluates the arguments, which send the request. So a lack of memory
// cannot lose the answer to a charge that was made.
billcore_result* perform(const billcore::Client& client, billcore_operation& operation,
                         const billcore::CallOptions& call) {
  const auto kind = operation.row.result;
  const bool raises = operation.raises_on_error();
  if (kind == BILLCORE_RESULT_NONE) {
    static_cast<void>(internal::response(client, operation.use(), raises, call));
    return nullptr;
  }
  if (kind == BILLCORE_RESULT_RESPONSE) {
    return new billcore_response(internal::response(client, operation.use(), raises, call));
  }
  return new billcore_resource(internal::resource(client, operation.use(), call), kind);
}

/// Casts the result to the handle that it is, if it is of this kind.
template <typename Handle>
billcore_status take(billcore_result** result, billcore_result_kind kind, Handle** out, billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        if (result == nullptr) refuse("a handle is NULL: billcore_result");
        if (handle(*result).kind != kind) refuse("the result is of another kind: see billcore_result_kind_of");
        *out = static_cast<Handle*>(std::exchange(*result, nullptr));
      },
      out);
}

}  // namespace

OperationUse billcore::capi::use(billcore_operation* operation) {
  auto& self = handle(operation);
  return {self.use(), self.raises_on_error()};
}

bool billcore::capi::is_get(const billcore_operation* operation) {
  return handle(operation).row.name.ends_with(".get");
}

billcore_result_kind billcore::capi::result_of(const billcore_operation* operation) {
  return handle(operation).row.result;
}

billcore_status billcore_operation_new(billcore_str name, billcore_operation** out, billcore_error** err) {
  return call(
      err, [&] { *out = new billcore_operation(find_row(view(name))); }, out);
}

void billcore_operation_free(billcore_operation* operation) { delete operation; }

billcore_status billcore_operation_set_text(billcore_operation* operation, billcore_str name, billcore_str value,
                                            billcore_error** err) {
  return set_value(
      operation, name, [&] { return view(value); }, err);
}

billcore_status billcore_operation_set_int64(billcore_operation* operation, billcore_str name, int64_t value,
                                             billcore_error** err) {
  return set_value(
      operation, name, [&] { return value; }, err);
}

billcore_status billcore_operation_set_bool(billcore_operation* operation, billcore_str name, bool value,
                                            billcore_error** err) {
  return change(
      operation,
      [&](auto& self) {
        const auto argument = view(name);
        if (self.fields != nullptr && argument != "id") {
          self.fields->set(argument, value);
          return;
        }
        self.given.set(argument, value);
        if (self.options != nullptr) self.options->raise_on_error = value;
      },
      err);
}

billcore_status billcore_operation_set_json(billcore_operation* operation, billcore_str name, billcore_str json,
                                            billcore_error** err) {
  return change(
      operation,
      [&](auto& self) {
        const auto argument = view(name);
        auto value = text(json);
        if (self.fields != nullptr && argument != "id") {
          set_field(*self.fields, argument, value);
        } else if (self.options != nullptr && argument == "json") {
          self.options->json = std::move(value);
        } else {
          self.given.reject(argument);
        }
      },
      err);
}

billcore_status billcore_operation_add_text(billcore_operation* operation, billcore_str name, billcore_str value,
                                            billcore_error** err) {
  return change(
      operation, [&](auto& self) { self.given.add(view(name), view(value)); }, err);
}

billcore_status billcore_operation_add(billcore_operation* operation, billcore_str name, billcore_str key,
                                       billcore_str value, billcore_error** err) {
  return change(
      operation,
      [&](auto& self) {
        const auto argument = view(name);
        std::pair added(text(key), text(value));
        if (self.options == nullptr || argument != "query") self.given.reject(argument);
        self.options->query.push_back(std::move(added));
      },
      err);
}

billcore_status billcore_operation_set_options(billcore_operation* operation, const billcore_options* options,
                                               billcore_error** err) {
  return change(
      operation,
      [&](auto& self) {
        if (options == nullptr) return;
        std::visit(
            [&]<typename Options>(const Options& from) {
              if constexpr (requires { copy_options(from, self.given); }) {
                copy_options(from, self.given);
              } else {
                replace(self, from);
              }
            },
            options->view);
      },
      err);
}

billcore_status billcore_client_perform(const billcore_client* client, billcore_operation* operation,
                                        const billcore_call_options* call, billcore_result** out,
                                        billcore_error** err) {
  return billcore::capi::call(
      err,
      [&] {
        const auto& self = handle(client).view;
        auto& wanted = handle(operation);
        const auto& options = call_options_of(call);  // refused options leave a write unused
        *out = perform(self, wanted, options);
      },
      out);
}

billcore_status billcore_client_list(const billcore_client* client, billcore_operation* operation,
                                     const billcore_call_options* call, billcore_list** out, billcore_error** err) {
  return billcore::capi::call(
      err, [&] { *out = handle(operation).use_as_list(handle(client).view, call_options_of(call)).release(); }, out);
}

void billcore_result_free(billcore_result* result) {
  if (result != nullptr && result->kind == BILLCORE_RESULT_RESPONSE) {
    delete static_cast<billcore_response*>(result);
  } else if (result != nullptr && result->kind == BILLCORE_RESULT_PAGE) {
    delete static_cast<billcore_page*>(result);
  } else {
    delete static_cast<billcore_resource*>(result);
  }
}

billcore_result_kind billcore_result_kind_of(const billcore_result* result) {
  return result == nullptr ? billcore_result_kind{BILLCORE_RESULT_NONE} : result->kind;
}

billcore_status billcore_result_take_resource(billcore_result** result, billcore_result_kind kind,
                                              billcore_resource** out, billcore_error** err) {
  if (kind == BILLCORE_RESULT_RESPONSE || kind == BILLCORE_RESULT_PAGE) kind = BILLCORE_RESULT_NONE;  // no resource
  return take(result, kind, out, err);
}

billcore_status billcore_result_take_response(billcore_result** result, billcore_response** out, billcore_error** err) {
  return take(result, BILLCORE_RESULT_RESPONSE, out, err);
}

billcore_status billcore_result_take_page(billcore_result** result, billcore_page** out, billcore_error** err) {
  return take(result, BILLCORE_RESULT_PAGE, out, err);
}
