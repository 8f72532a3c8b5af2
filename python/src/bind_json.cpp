#include "bind_json.hpp"

#include <string>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

namespace {

using detail::Document;
using detail::Node;

py::object checked(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object string(std::string_view text) {
  return checked(PyUnicode_FromStringAndSize(text.data(), static_cast<py::ssize_t>(text.size())));
}

py::object whole_number(const Document& document, const Node* node) {
  std::int64_t number = 0;
  if (detail::int64(node, number)) return checked(PyLong_FromLongLong(number));
  auto* out = PyLong_FromString(detail::integer_text(node).c_str(), nullptr, 10);
  if (out == nullptr && PyErr_ExceptionMatches(PyExc_ValueError) != 0) {
    PyErr_Clear();
    throw Error(ErrorCode::decode,
                document.path(node) + " has more digits than Python converts (sys.set_int_max_str_digits)");
  }
  return checked(out);
}

// As deep as the document, which the core limits (max_nesting).
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
    // Of equal names the last one wins.
    if (PyDict_SetItem(dict.ptr(), name.ptr(), convert(document, value).ptr()) != 0) throw py::error_already_set();
    if (left > 1) key = detail::next(value);
  }
  return dict;
}

}  // namespace

py::object plain(const Value& value) { return convert(*value.document(), value.node()); }
py::object plain_integer(const Document& document, const Node* node) { return whole_number(document, node); }

}  // namespace billcore::python
