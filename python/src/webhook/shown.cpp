#include "webhook/shown.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "shared/error.hpp"
#include "shared/objects.hpp"
#include "webhook/json.hpp"
#include "webhook/money.hpp"

namespace billcore::python {
namespace {

bool is_word(std::string_view text) noexcept {
  constexpr std::size_t longest = 80;
  return !text.empty() && text.size() <= longest && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Returns a member as repr() shows it; null if the member is neither a text nor an integer. Quotes free text
// (FieldKind::text) and any text with characters other than letters, digits, _ and -.
py::object shown_member(const Type& type, const Value& owner, const char* name) {
  const auto found = name == nullptr ? std::nullopt : owner.find(name);
  if (!found || (found->kind() != Value::Kind::string && found->kind() != Value::Kind::integer)) return {};
  const bool is_name = std::any_of(type.fields.begin(), type.fields.end(), [&](const Field& field) {
    return field.kind == FieldKind::text && std::string_view(field.name) == name;
  });
  if (found->kind() == Value::Kind::string && !is_name && is_word(found->text())) return string(found->text());
  constexpr py::ssize_t longest = 80;
  const auto shown = checked(PyObject_Repr(plain(*found).ptr()));
  const auto cut = checked(PyUnicode_Substring(shown.ptr(), 0, longest));
  return PyUnicode_GetLength(shown.ptr()) > longest ? checked(PyUnicode_FromFormat("%U...", cut.ptr())) : cut;
}

// Returns the amount with the currency; null if one of them is absent or not valid.
py::object shown_amount(const Type& type, const Value& owner) {
  const auto amount = type.amount == nullptr ? std::nullopt : owner.find(type.amount);
  const auto currency = owner.find("currency");
  if (!amount || amount->kind() != Value::Kind::integer || !currency) return {};
  if (currency->kind() != Value::Kind::string || !is_word(currency->text())) return {};
  const auto number = plain(*amount);
  int overflow = 0;
  const auto cents = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) return {};
  return string(amount_text(cents, currency->text()));
}

}  // namespace

py::object shown(const Type& type, const Value& value) {
  auto out = string(std::string("<") + (type.name + package_prefix));
  const auto add = [&](const py::object& part) {
    if (part) out = checked(PyUnicode_FromFormat("%U %U", out.ptr(), part.ptr()));
  };
  for (const char* name : type.shown) add(shown_member(type, value, name));
  add(shown_amount(type, value));
  return checked(PyUnicode_FromFormat("%U>", out.ptr()));
}

PyObject* call_shown(const char* function, PyObject* self) noexcept {
  return guarded<PyObject*>(
      nullptr, [&] { return py::module_::import("billcore._shown").attr(function)(py::handle(self)).release().ptr(); });
}

}  // namespace billcore::python
