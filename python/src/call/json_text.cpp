#include "call/json_text.hpp"

#include <cmath>

#include "billcore/detail/document.hpp"
#include "shared/arguments.hpp"

namespace billcore::python {
namespace {

class Writer {
 public:
  explicit Writer(const char* what) : what_(what) {}

  void write(py::handle value, int depth) {  // NOLINT(misc-no-recursion): limited by max_nesting
    auto* object = value.ptr();
    if (value.is_none()) {
      out_ += "null";
    } else if (PyBool_Check(object)) {
      out_ += object == Py_True ? "true" : "false";
    } else if (PyUnicode_Check(object)) {
      write_text(utf8(value, what_));
    } else if (PyFloat_Check(object)) {
      write_float(PyFloat_AS_DOUBLE(object));
    } else if (PyIndex_Check(object) != 0) {
      out_ += digits(value, what_);
    } else if (const auto type = decimal_type(); type && py::isinstance(value, type)) {
      write_decimal(type, value);
    } else if (PyList_Check(object) || PyTuple_Check(object)) {
      descend(depth);
      out_ += '[';
      const char* separator = "";
      for (const auto item : value) {
        out_ += separator;
        write(item, depth + 1);
        separator = ",";
      }
      out_ += ']';
    } else if (PyObject_HasAttrString(object, "items") != 0 && PyMapping_Check(object) != 0) {
      descend(depth);
      write_members(value, depth);
    } else {
      refuse(std::string(what_) + " cannot be sent as JSON: it contains a " + type_name(value));
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void descend(int depth) const {
    if (depth > detail::max_nesting) refuse(std::string(what_) + " is nested too deeply, or contains itself");
  }

  void write_members(py::handle mapping, int depth) {  // NOLINT(misc-no-recursion)
    out_ += '{';
    const char* separator = "";
    for (const auto entry : mapping.attr("items")()) {
      const auto pair = py::reinterpret_borrow<py::sequence>(entry);
      const py::object name = pair[0];
      const py::object value = pair[1];
      if (!PyUnicode_Check(name.ptr())) {
        refuse(std::string(what_) + " has a " + type_name(name) + " as the name of a member: names must be str");
      }
      out_ += separator;
      write_text(utf8(name, what_));
      out_ += ':';
      write(value, depth + 1);
      separator = ",";
    }
    out_ += '}';
  }

  void write_text(std::string_view text) {
    static constexpr std::string_view hex = "0123456789abcdef";
    out_ += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (byte < 0x20) {
        out_ += "\\u00";
        out_ += hex[byte >> 4U];
        out_ += hex[byte & 15U];
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  void write_float(double number) {
    if (!std::isfinite(number)) refuse(std::string(what_) + ": NaN and infinity are not JSON numbers");
    char* text = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
    if (text == nullptr) throw py::error_already_set();
    out_ += text;
    PyMem_Free(text);
  }

  // Returns null if the module decimal is not loaded, because no Decimal object can exist then. The module may lack the
  // class while another thread imports the module.
  [[nodiscard]] static py::object decimal_type() {
    auto* module = PyDict_GetItemString(PyImport_GetModuleDict(), "decimal");
    return module == nullptr ? py::object() : py::getattr(module, "Decimal", py::object());
  }

  // Calls the methods of Decimal itself: a subclass may override them and return other text.
  void write_decimal(py::handle type, py::handle number) {
    if (!type.attr("is_finite")(number).cast<bool>()) {
      refuse(std::string(what_) + ": NaN and infinity are not JSON numbers");
    }
    const py::object text = type.attr("__str__")(number);
    out_ += utf8(text, what_);
  }

  const char* what_;
  std::string out_;
};

}  // namespace

std::string json_text(py::handle value, const char* what) {
  Writer writer(what);
  writer.write(value, 1);
  return writer.take();
}

}  // namespace billcore::python
