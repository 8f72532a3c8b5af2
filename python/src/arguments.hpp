// Reading the arguments of a call.
//
// pybind11 would answer a wrong call with a TypeError that prints all arguments, signing secrets and API keys among them. So
// the bound functions take (*args, **kwargs) and read them here; these errors name arguments, never values.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::python {

namespace py = pybind11;

/// Throws Error(invalid_argument).
[[noreturn]] void refuse(const std::string& problem);

/// A function's parameters, read from its signature as Python writes it; the same text is its documentation.
class Signature {
 public:
  /// Such as "charge(self, id, /, *, product_id, vat=None, **more)". The text must outlive this.
  explicit Signature(const char* text);

  /// The values in the order of the parameters (without self); a null handle for one that was left out.
  [[nodiscard]] std::vector<py::handle> bind(const py::args& args, const py::kwargs& kwargs) const;
  /// The same; what no parameter takes is put into `more`.
  [[nodiscard]] std::vector<py::handle> bind(const py::args& args, const py::kwargs& kwargs, py::dict& more) const;
  /// A docstring that inspect.signature() understands.
  [[nodiscard]] std::string doc(const char* text) const;

 private:
  struct Parameter {
    std::string name;
    bool required;
  };
  [[nodiscard]] std::vector<py::handle> read(const py::args& args, const py::kwargs& kwargs, py::dict* more) const;

  const char* text_;
  std::string function_;
  std::vector<Parameter> parameters_;
  std::size_t positional_only_ = 0;
  std::size_t positional_ = 0;  // how many may be given by position
};

/// A handle that is neither left out nor None (nor `...`, which says "left out").
[[nodiscard]] bool given(py::handle value);
[[nodiscard]] bool left_out(py::handle value);

// Converters. `name` is the argument's, for the error.
[[nodiscard]] std::string_view utf8(py::handle value, const char* name);  // str; lives as long as the object
[[nodiscard]] std::int64_t integer(py::handle value, const char* name);   // anything with __index__ but bool
[[nodiscard]] std::size_t size(py::handle value, const char* name);       // the same, not negative
[[nodiscard]] bool boolean(py::handle value, const char* name);
[[nodiscard]] std::string digits(py::handle value, const char* name);  // an integer of any size; bool is refused
[[nodiscard]] std::string type_name(py::handle value);

}  // namespace billcore::python
