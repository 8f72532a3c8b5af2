#include "client/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "call/interruption.hpp"
#include "client/arguments.hpp"
#include "shared/arguments.hpp"

namespace billcore::python {
namespace {

/// Reads a mapping with str keys, or pairs whose first element is a str.
template <typename Text>
Pairs pairs_of(py::handle value, const char* name, Text text) {
  Pairs out;
  each_pair(value, name,
            [&](py::handle key, py::handle content) { out.emplace_back(utf8(key, name), text(content, name)); });
  return out;
}

std::string only_text(py::handle value, const char* name) { return std::string(utf8(value, name)); }
// Converts one value of a URL's query. Refuses None, bool, float and lists: a URL can spell a value of these types in
// several ways, so the caller must convert it to str.
std::string text_or_number(py::handle value, const char* name) {
  if (PyUnicode_Check(value.ptr())) return only_text(value, name);
  if (!PyBool_Check(value.ptr()) && PyIndex_Check(value.ptr()) != 0) return digits(value, name);
  const std::string problem = std::string("a value of ") + name + " must be a str or an int, not " + type_name(value);
  if (value.is_none()) refuse(problem + ": leave the name out, or pass '' to send it empty");
  if (PyBool_Check(value.ptr())) refuse(problem + ": pass the text that the service expects, such as 'true' or '1'");
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    refuse(problem + ": pass pairs, such as [('a', '1'), ('a', '2')], or one text, such as '1,2'");
  }
  refuse(problem + ": pass the text to send, such as str(value)");
}

// The core calls this function without the GIL, at least every 50 ms while a call waits. If a signal handler raises,
// its exception stays set for set_error(). Signal handlers run on the main thread only, so another thread takes the
// GIL only if a hook has kept an exception.
bool interrupted() {
  if (!on_main_thread() && !hook_interrupt::is_kept()) {
    park_if_finalizing();
    return false;
  }
  const Gil gil;
  return interruption_raised();
}

}  // namespace

BoundClient bind_client(std::span<const py::handle> values, std::shared_ptr<Loops> loops) {
  prepare_for_gevent();
  const arguments::CreateClient from(values);
  auto options = arguments::client_options(from);
  options.interrupt = interrupted;
  options.hooks = given_up_log();
  HooksOption hooks;
  if (given(from.hooks)) hooks = HooksOption(py::reinterpret_borrow<py::object>(from.hooks));
  return {Client(std::move(options)), std::move(hooks), std::move(loops), {}};
}

BoundClient changed_sender(const BoundClient& bound, std::span<const py::handle> values) {
  const auto changes = arguments::client_changes(arguments::ChangeOptions(values));
  return {bound.client.with_options(changes), bound.hooks, bound.loops, bound.changed};
}

Pairs header_pairs(py::handle value, const char* name) { return pairs_of(value, name, only_text); }

std::string path_text(py::handle value, const char* name) {
  auto* bytes = static_cast<PyObject*>(nullptr);
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) {
    PyErr_Clear();
    refuse(std::string(name) + " must be the path of a file, not " + type_name(value));
  }
  return py::reinterpret_steal<py::bytes>(bytes);
}

int count(py::handle value, const char* name) {
  const auto number = integer(value, name);
  return static_cast<int>(std::clamp<std::int64_t>(number, -1, std::numeric_limits<int>::max()));
}

Pairs query_pairs(py::handle value) { return pairs_of(value, "query", text_or_number); }

std::chrono::milliseconds milliseconds(py::handle seconds, const std::string& name) {
  if (PyBool_Check(seconds.ptr()) || PyNumber_Check(seconds.ptr()) == 0) {
    refuse(name + " must be a number of seconds, or None for no deadline, not " + type_name(seconds));
  }
  const double number = real(seconds, name.c_str());
  if (std::isnan(number)) refuse(name + " must not be NaN");
  constexpr double longest = 1e9;  // 30 years in seconds; a longer time-out could overflow
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(std::clamp(number, -1.0, longest) * 1000)));
}

CallOptions call_options(py::handle timeout, py::handle total_timeout) {
  CallOptions options;
  if (given(timeout)) {
    options.timeout = milliseconds(timeout, "timeout");
  } else if (!left_out(timeout)) {
    options.timeout = no_timeout;
  }
  if (given(total_timeout)) options.total_timeout = milliseconds(total_timeout, "total_timeout");
  return options;
}

}  // namespace billcore::python
