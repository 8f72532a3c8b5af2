#include "webhook/json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "billcore/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {

namespace {

using detail::Document;
using detail::Node;

py::object whole_number(const Document& document, const Node* node) {
  std::int64_t number = 0;
  if (detail::int64(node, number)) return checked(PyLong_FromLongLong(number));
  auto* out = PyLong_FromString(detail::integer_text(node).c_str(), nullptr, 10);
  if (out == nullptr && PyErr_ExceptionMatches(PyExc_ValueError) != 0) {
    PyErr_Clear();
    throw detail::value_error(ErrorCode::decode, document.path(node),
                              "has more digits than Python converts (sys.set_int_max_str_digits)");
  }
  return checked(out);
}

// The core limits the nesting of a document (max_nesting), which also limits this recursion.
py::object convert(const Document& document, const Node* node) {  // NOLINT(misc-no-recursion)
  switch (detail::kind(node)) {
    case Value::Kind::null:
      return py::none();
    case Value::Kind::boolean:
      return py::bool_(detail::boolean(node));
    case Value::Kind::integer:
      return whole_number(document, node);
    case Value::Kind::real:
      return checked(PyFloat_FromDouble(detail::real(node)));
    case Value::Kind::string:
      return string(detail::text(node));
    case Value::Kind::array: {
      const auto count = detail::size(node);
      auto list = checked(PyList_New(static_cast<py::ssize_t>(count)));
      const Node* item = detail::first(node);
      for (std::size_t i = 0; i < count; ++i) {
        PyList_SET_ITEM(list.ptr(), static_cast<py::ssize_t>(i), convert(document, item).release().ptr());
        if (i + 1 < count) item = detail::next(item);
      }
      return list;
    }
    case Value::Kind::object:
      break;
  }
  auto dict = checked(PyDict_New());
  const Node* key = detail::first(node);
  for (auto left = detail::size(node); left > 0; --left) {
    const Node* value = detail::value_of(key);
    const auto name = string(detail::text(key));
    // If an object contains a name twice, the later value replaces the earlier value.
    if (PyDict_SetItem(dict.ptr(), name.ptr(), convert(document, value).ptr()) != 0) throw py::error_already_set();
    if (left > 1) key = detail::next(value);
  }
  return dict;
}

}  // namespace

py::object plain(const Value& value) { return convert(*value.document(), value.node()); }
py::object word(std::string_view text) {
  constexpr std::size_t longest = 32;
  static std::array<PyObject*, 128> known{};
  if (text.empty() || text.size() > longest) return string(text);
  std::array<std::uint64_t, 2> ends{};  // the hash uses only the length and the first and last eight bytes
  const std::size_t part = std::min(text.size(), sizeof(std::uint64_t));
  std::memcpy(ends.data(), text.data(), part);
  std::memcpy(&ends[1], text.data() + text.size() - part, part);
  const auto hash = (ends[0] + ends[1] * 31 + text.size()) * 0x9E3779B97F4A7C15U;
  PyObject*& place = known[(hash >> 48U) % known.size()];
  if (place != nullptr && text.size() == static_cast<std::size_t>(PyUnicode_GET_LENGTH(place)) &&
      std::memcmp(PyUnicode_1BYTE_DATA(place), text.data(), text.size()) == 0) {
    return py::reinterpret_borrow<py::object>(place);
  }
  auto fresh = string(text);
  if (PyUnicode_IS_ASCII(fresh.ptr())) Py_XSETREF(place, fresh.inc_ref().ptr());
  return fresh;
}

py::object plain_integer(const Document& document, const Node* node) { return whole_number(document, node); }

}  // namespace billcore::python
