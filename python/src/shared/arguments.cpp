#include "shared/arguments.hpp"

#include <algorithm>

#include "billcore/error.hpp"

namespace billcore::python {
namespace {

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

}  // namespace

void type_error(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw py::error_already_set();
}

std::string no_copies(const std::string& type, const char* why) {
  return (type.starts_with('A') ? "an " : "a ") + type + " cannot be pickled or copied: " + why;
}

void refuse_copies(py::handle type, const char* why) {
  static const Signature reduce("__reduce_ex__(self, protocol, /)");
  static const Signature reduce_plainly("__reduce__(self, /)");
  const std::string text = no_copies(std::string(py::str(type.attr("__name__"))), why);
  const auto refusing = [text](const py::object& /*self*/, const py::object& /*protocol*/) { type_error(text); };
  type.attr("__reduce_ex__") = py::cpp_function(refusing, py::name("__reduce_ex__"), py::is_method(type),
                                                reduce.doc("Refused: TypeError.").c_str());
  type.attr("__reduce__") =
      py::cpp_function([text](const py::object& /*self*/) { type_error(text); }, py::name("__reduce__"),
                       py::is_method(type), reduce_plainly.doc("Refused: TypeError.").c_str());
}

void refuse(const std::string& problem) { throw Error(ErrorCode::invalid_argument, problem); }

std::string did_you_mean(std::string_view name, const py::list& known) {
  const py::object near = py::module_::import("difflib").attr("get_close_matches")(py::str(name), known, 1);
  return py::len(near) == 0 ? "" : ": did you mean '" + near[py::int_(0)].cast<std::string>() + "'?";
}

Signature::Signature(const char* text, const char* shown) : text_(text) {
  std::string_view rest(text);
  const auto open = rest.find('(');
  function_ = rest.substr(0, open);
  shown_ = shown == nullptr ? function_ : shown;
  rest = rest.substr(open + 1, rest.rfind(')') - open - 1);
  bool keyword_only = false;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto part = trim(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (part == "self" || part.starts_with("**")) continue;
    if (part == "/") {
      positional_only_ = parameters_.size();
    } else if (part == "*") {
      keyword_only = true;
    } else {
      const auto equals = part.find('=');
      parameters_.push_back({std::string(part.substr(0, equals)), equals == std::string_view::npos});
      if (!keyword_only) positional_ = parameters_.size();
    }
  }
}

void Signature::refuse_count(std::size_t given) const {
  const auto plural = [](std::size_t count) { return count == 1 ? " positional argument" : " positional arguments"; };
  auto text = shown_ + "() takes " + (positional_ == 0 ? "no" : std::to_string(positional_)) + plural(positional_) +
              ", but " + std::to_string(given) + (given == 1 ? " was given" : " were given");
  // The error suggests parameters to pass by name: all required parameters, but at least two if there are two.
  std::string names;
  std::size_t named = 0;
  for (auto i = positional_; i < parameters_.size() && (parameters_[i].required || named < 2); ++i) {
    names += (named++ == 0 ? "" : ", ") + parameters_[i].name + "=...";
  }
  if (named != 0)
    text += std::string(": pass ") + (positional_ == 0 ? "arguments" : "the others") + " by name, such as " + names;
  type_error(text);
}

void Signature::refuse_keyword(std::string_view name) const {
  py::list known;
  for (std::size_t i = positional_only_; i < parameters_.size(); ++i) known.append(parameters_[i].name);
  type_error(shown_ + "() got an unexpected keyword argument '" + std::string(name) + '\'' + did_you_mean(name, known));
}

std::size_t Signature::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(parameters_.begin() + static_cast<std::ptrdiff_t>(positional_only_), parameters_.end(),
                   [&](const Parameter& parameter) { return parameter.name == name; });
  return static_cast<std::size_t>(found - parameters_.begin());
}

py::handle& Signature::place(std::span<py::handle> values, std::size_t index) const {
  if (values[index]) type_error(shown_ + "() got multiple values for argument '" + parameters_[index].name + '\'');
  return values[index];
}

void Signature::require(std::span<const py::handle> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i] && parameters_[i].required) {
      type_error(shown_ + "() missing required argument: '" + parameters_[i].name + '\'');
    }
  }
}

void Signature::read(const Call& call, std::span<py::handle> values, py::dict* more) const {
  const auto given = static_cast<std::size_t>(call.positional);
  if (given > positional_) refuse_count(given);
  std::copy_n(call.arguments, given, values.begin());
  const auto keywords = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  for (py::ssize_t i = 0; i < keywords; ++i) {
    const py::handle key = PyTuple_GET_ITEM(call.keywords, i);
    const py::handle value = call.arguments[call.positional + i];
    const auto name = utf8(key, "a keyword");
    const auto index = find(name);
    if (index < values.size()) {
      place(values, index) = value;
    } else if (more != nullptr) {
      (*more)[key] = value;
    } else {
      refuse_keyword(name);
    }
  }
  require(values);
}

std::string Signature::doc(const char* text) const { return std::string(text_) + "\n--\n\n" + text; }

std::string Signature::method_doc(const char* text) const {
  // inspect.signature() evaluates a default in the module of the function. A method descriptor has no module, so a
  // default must name its own.
  auto signature = std::string(text_);
  for (auto at = signature.find("=NOT_GIVEN"); at != std::string::npos; at = signature.find("=NOT_GIVEN", at))
    signature.insert(at + 1, "billcore.");
  return signature.insert(signature.find('(') + 1, "$") + "\n--\n\n" + text;
}

std::string class_doc(std::string_view name, std::string_view init_signature, const char* text) {
  constexpr std::string_view self = "(self, ";
  const auto parameters = init_signature.substr(init_signature.find(self) + self.size());
  return std::string(name) + "(" + std::string(parameters) + "\n--\n\n" + text;
}

namespace {
PyObject* not_given = nullptr;  // the object NOT_GIVEN; set once, when the module is imported
}

void set_not_given(py::handle sentinel) noexcept { not_given = sentinel.ptr(); }

bool left_out(py::handle value) { return !value || value.ptr() == not_given; }
bool given(py::handle value) { return !left_out(value) && !value.is_none(); }

std::string type_name(py::handle value) { return value.is_none() ? "None" : Py_TYPE(value.ptr())->tp_name; }

std::string_view utf8(py::handle value, const char* name) {
  if (!PyUnicode_Check(value.ptr())) refuse(std::string(name) + " must be a str, not " + type_name(value));
  py::ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    refuse(std::string(name) + " is not valid Unicode: it has a lone surrogate in it");
  }
  return {text, static_cast<std::size_t>(size)};
}

namespace {

py::object index(py::handle value, const char* name) {
  if (PyBool_Check(value.ptr())) refuse(std::string(name) + " must be an integer, not bool");
  if (PyIndex_Check(value.ptr()) == 0) refuse(std::string(name) + " must be an integer, not " + type_name(value));
  auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  return number;
}

}  // namespace

std::int64_t integer(py::handle value, const char* name) {
  const auto number = index(value, name);
  int overflow = 0;
  const auto out = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) refuse(std::string(name) + " does not fit in 64 bits");
  if (out == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return out;
}

std::size_t size(py::handle value, const char* name) {
  const auto out = integer(value, name);
  if (out < 0) refuse(std::string(name) + " must not be negative");
  return static_cast<std::size_t>(out);
}

double real(py::handle value, const char* name) {
  const double out = PyFloat_AsDouble(value.ptr());
  if (out != -1.0 || PyErr_Occurred() == nullptr) return out;
  const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  const bool no_number = PyErr_ExceptionMatches(PyExc_TypeError) != 0 || PyErr_ExceptionMatches(PyExc_ValueError) != 0;
  if (!too_large && !no_number) throw py::error_already_set();
  PyErr_Clear();
  refuse(std::string(name) + (too_large ? " is out of range" : " must be a number, not " + type_name(value)));
}

bool boolean(py::handle value, const char* name) {
  if (!PyBool_Check(value.ptr())) refuse(std::string(name) + " must be True or False, not " + type_name(value));
  return value.ptr() == Py_True;
}

std::string digits(py::handle value, const char* name) {
  const auto number = index(value, name);
  // Calls the repr of int itself: a subclass may override it and return other text.
  const auto text = py::reinterpret_steal<py::object>(PyLong_Type.tp_repr(number.ptr()));
  if (!text) {
    PyErr_Clear();
    refuse(std::string(name) + " has more digits than Python converts (sys.set_int_max_str_digits)");
  }
  return std::string(utf8(text, name));
}

py::tuple members_of(py::handle mapping, const std::string& problem) {
  if (PyMapping_Check(mapping.ptr()) == 0 || PyObject_HasAttrString(mapping.ptr(), "items") == 0) {
    refuse(problem + ", not " + type_name(mapping));
  }
  return {mapping.attr("items")()};
}

void each_pair(py::handle value, const std::string& name, const std::function<void(py::handle, py::handle)>& use) {
  const std::string problem = name + " must be a mapping or pairs of name and value";
  const py::object entries = PyObject_HasAttrString(value.ptr(), "items") != 0
                                 ? py::object(value.attr("items")())
                                 : py::reinterpret_borrow<py::object>(value);
  const bool is_text = PyUnicode_Check(entries.ptr()) || PyBytes_Check(entries.ptr());
  if (is_text || !py::isinstance<py::iterable>(entries)) refuse(problem + ", not " + type_name(value));
  for (const auto entry : entries) {
    if (!(PyTuple_Check(entry.ptr()) || PyList_Check(entry.ptr())) || py::len(entry) != 2) refuse(problem);
    const auto pair = py::reinterpret_borrow<py::sequence>(entry);
    const py::object first = pair[0];
    const py::object second = pair[1];
    use(first, second);
  }
}

}  // namespace billcore::python
