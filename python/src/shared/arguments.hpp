// Reads the arguments of calls.
//
// If a call does not match a signature, pybind11 raises a TypeError that prints all arguments, including signing
// secrets and API keys. To keep secrets out of errors, bound functions parse their arguments with this file's
// functions, whose errors name arguments and never show values.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace billcore::python {

namespace py = pybind11;

/// Raises TypeError, for a malformed call.
[[noreturn]] void type_error(const std::string& text);
/// Throws Error(invalid_argument).
[[noreturn]] void refuse(const std::string& problem);

/// Returns for example ": did you mean 'amount'?", or an empty text if `name` resembles none of the known names.
[[nodiscard]] std::string did_you_mean(std::string_view name, const py::list& known);

/// Returns the text of the TypeError for an object that cannot be pickled or copied. `why` is the reason, or what the
/// user can do instead.
[[nodiscard]] std::string no_copies(const std::string& type, const char* why);
/// Makes pickling and copying raise TypeError. Without refuse_copies(), pickling a pybind11 object with an old pickle
/// protocol ends the process.
void refuse_copies(py::handle type, const char* why);

/// The arguments of a METH_FASTCALL | METH_KEYWORDS function, not copied. In `arguments`, the values of the keyword
/// arguments follow the positional arguments.
struct Call {
  PyObject* const* arguments;
  py::ssize_t positional;
  PyObject* keywords;  // the names of the keyword arguments as a tuple, or null
};

/// A function's parameters, parsed from the signature with which the function's docstring begins.
class Signature {
 public:
  /// `text` is for example "charge(self, id, /, *, product_id, vat=None, **more)" and must outlive the Signature.
  /// `shown` is the function's name in error messages; by default the name in `text`.
  explicit Signature(const char* text, const char* shown = nullptr);

  /// Returns the arguments in the order of the parameters (without self); the handle of an omitted argument is null.
  /// Puts keyword arguments that match no parameter into `more`; without `more`, raises TypeError for them.
  [[nodiscard]] std::vector<py::handle> bind(const Call& call, py::dict* more = nullptr) const {
    std::vector<py::handle> values(parameters_.size());
    read(call, values, more);
    return values;
  }
  /// Like bind(call), without allocation; `count` is the number of parameters without self.
  template <std::size_t count>
  [[nodiscard]] std::array<py::handle, count> bind(const Call& call) const {
    std::array<py::handle, count> values;
    read(call, values, nullptr);
    return values;
  }
  /// Returns a docstring that begins with the signature, in the format that inspect.signature() reads.
  [[nodiscard]] std::string doc(const char* text) const;
  /// Like doc(), for a method that Python calls without pybind11: inspect.signature() expects `$self` in its
  /// docstring.
  [[nodiscard]] std::string method_doc(const char* text) const;
  [[nodiscard]] const char* name() const noexcept { return function_.c_str(); }
  /// Returns the name of the parameter with this index; self is not counted.
  [[nodiscard]] const std::string& parameter(std::size_t index) const { return parameters_.at(index).name; }

 private:
  struct Parameter {
    std::string name;
    bool required;
  };
  void read(const Call& call, std::span<py::handle> values, py::dict* more) const;
  [[nodiscard]] py::handle& place(std::span<py::handle> values, std::size_t index) const;
  // Returns the index of the parameter that may be passed by this name, or the number of parameters if there is none.
  [[nodiscard]] std::size_t find(std::string_view name) const noexcept;
  [[noreturn]] void refuse_count(std::size_t given) const;
  [[noreturn]] void refuse_keyword(std::string_view name) const;
  void require(std::span<const py::handle> values) const;

  const char* text_;
  std::string function_;
  std::string shown_;  // the function's name in errors
  std::vector<Parameter> parameters_;
  std::size_t positional_only_ = 0;
  std::size_t positional_ = 0;  // number of parameters that may be passed by position
};

/// The Signature of a text of the generated docs.
template <const auto& text>
[[nodiscard]] const Signature& parsed() {
  static const Signature made(text);
  return made;
}

/// Returns a class's docstring with the signature of its __init__, in the format that inspect.signature() reads.
[[nodiscard]] std::string class_doc(std::string_view name, std::string_view init_signature, const char* text);

/// Stores Python's NOT_GIVEN object. An argument that is NOT_GIVEN counts as left out, like a null handle. The object
/// must exist until the process ends.
void set_not_given(py::handle sentinel) noexcept;
/// Returns true unless the value was left out or is None.
[[nodiscard]] bool given(py::handle value);
[[nodiscard]] bool left_out(py::handle value);

// Converters; the comment of each says which values it accepts. `name`: the argument's name, for the error.
[[nodiscard]] std::string_view utf8(py::handle value, const char* name);  // only a str, which owns the text
[[nodiscard]] std::int64_t integer(py::handle value, const char* name);   // anything with __index__ except bool
[[nodiscard]] std::size_t size(py::handle value, const char* name);       // like integer(), but not negative
[[nodiscard]] double real(py::handle value, const char* name);            // anything with __float__ or __index__
[[nodiscard]] bool boolean(py::handle value, const char* name);
[[nodiscard]] std::string digits(py::handle value, const char* name);  // an integer of any size except bool
[[nodiscard]] std::string type_name(py::handle value);

/// Returns the members of a mapping as pairs. `problem` says what the argument must be.
[[nodiscard]] py::tuple members_of(py::handle mapping, const std::string& problem);
/// Calls `use` with each name and value of the argument `name`, which is a mapping or an iterable of pairs.
void each_pair(py::handle value, const std::string& name, const std::function<void(py::handle, py::handle)>& use);

}  // namespace billcore::python
