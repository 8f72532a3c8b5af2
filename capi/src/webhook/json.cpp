// JSON values and iterations over them.
#include "billcore/json.h"

#include <functional>

#include "billcore/json.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using billcore::Value;
using namespace billcore::capi;

static_assert(BILLCORE_KIND_NULL == static_cast<billcore_kind>(Value::Kind::null));
static_assert(BILLCORE_KIND_BOOLEAN == static_cast<billcore_kind>(Value::Kind::boolean));
static_assert(BILLCORE_KIND_INTEGER == static_cast<billcore_kind>(Value::Kind::integer));
static_assert(BILLCORE_KIND_REAL == static_cast<billcore_kind>(Value::Kind::real));
static_assert(BILLCORE_KIND_STRING == static_cast<billcore_kind>(Value::Kind::string));
static_assert(BILLCORE_KIND_ARRAY == static_cast<billcore_kind>(Value::Kind::array));
static_assert(BILLCORE_KIND_OBJECT == static_cast<billcore_kind>(Value::Kind::object));

void billcore_value_free(billcore_value* value) { delete value; }

billcore_status billcore_value_kind(const billcore_value* value, billcore_kind* out, billcore_error** err) {
  return get(
      value, [](const Value& view) { return static_cast<billcore_kind>(view.kind()); }, out, err);
}

billcore_status billcore_value_boolean(const billcore_value* value, bool* out, billcore_error** err) {
  return get(value, &Value::boolean, out, err);
}

billcore_status billcore_value_integer(const billcore_value* value, int64_t* out, billcore_error** err) {
  return get(value, &Value::integer, out, err);
}

billcore_status billcore_value_real(const billcore_value* value, double* out, billcore_error** err) {
  return get(value, &Value::real, out, err);
}

billcore_status billcore_value_text(const billcore_value* value, billcore_str* out, billcore_error** err) {
  return get(value, &Value::text, out, err);
}

billcore_status billcore_value_raw(const billcore_value* value, billcore_str* out, billcore_error** err) {
  return get(value, &Value::raw, out, err);
}

billcore_status billcore_value_path(const billcore_value* value, billcore_buf* out, billcore_error** err) {
  return get(value, &Value::path, out, err);
}

billcore_status billcore_value_count(const billcore_value* value, size_t* out, billcore_error** err) {
  return get_count(value, std::identity(), out, err);
}

billcore_status billcore_value_at(const billcore_value* value, size_t index, billcore_value** out,
                                  billcore_error** err) {
  return get_new(
      value, [&](const Value& view) { return view.at(index); }, out, err);
}

billcore_status billcore_value_find(const billcore_value* value, billcore_str name, billcore_value** out, bool* present,
                                    billcore_error** err) {
  return get_new(
      value, [&](const Value& self) { return self.find(view(name)); }, out, present, err);
}

billcore_status billcore_value_equal(const billcore_value* value, const billcore_value* other, bool* out,
                                     billcore_error** err) {
  return get(
      value, [&](const Value& view) { return view == handle(other).view; }, out, err);
}

billcore_status billcore_value_copy(const billcore_value* value, billcore_value** out, billcore_error** err) {
  return get_new(
      value, [](const Value& view) { return view; }, out, err);
}

billcore_status billcore_value_iterator_new(const billcore_value* value, billcore_value_iterator** out,
                                            billcore_error** err) {
  return get_new(
      value, [](const Value& view) { return view; }, out, err);
}

billcore_status billcore_value_iterator_next(billcore_value_iterator* iterator, billcore_str* name,
                                             billcore_value** out, billcore_error** err) {
  return call(
      err,
      [&]() -> billcore_status {
        auto& next = handle(iterator).next;
        if (next == iterator->view.end()) return BILLCORE_DONE;
        const auto member = *next;
        put_new(out, member.value());
        if (name != nullptr) put(name, member.name);
        ++next;
        return BILLCORE_OK;
      },
      Maybe<billcore_str>{name}, out);
}

void billcore_value_iterator_free(billcore_value_iterator* iterator) { delete iterator; }
