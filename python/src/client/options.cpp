#include "client/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "call/interruption.hpp"
#include "shared/arguments.hpp"

namespace billcore::python {
namespace {

/// A mapping or pairs of str.
template <typename Text>
Pairs pairs_of(py::handle value, const char* name, Text text) {
  Pairs out;
  const py::object entries = PyObject_HasAttrString(value.ptr(), "items") != 0
                                 ? py::object(value.attr("items")())
                                 : py::reinterpret_borrow<py::object>(value);
  const std::string problem = std::string(name) + " must be a mapping or pairs of name and value";
  if (PyUnicode_Check(entries.ptr()) || !py::isinstance<py::iterable>(entries))
    refuse(problem + ", not " + type_name(value));
  for (const auto entry : entries) {
    if (!(PyTuple_Check(entry.ptr()) || PyList_Check(entry.ptr())) || py::len(entry) != 2) refuse(problem);
    const auto pair = py::reinterpret_borrow<py::sequence>(entry);
    const py::object key = pair[0];
    const py::object content = pair[1];
    out.emplace_back(utf8(key, name), text(content, name));
  }
  return out;
}

std::string only_text(py::handle value, const char* name) { return std::string(utf8(value, name)); }
// A value of a query. `None`, bool, float and lists have several spellings in URLs: the caller chooses one.
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

std::string path_text(py::handle value, const char* name) {
  auto* bytes = static_cast<PyObject*>(nullptr);
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) {
    PyErr_Clear();
    refuse(std::string(name) + " must be the path of a file, not " + type_name(value));
  }
  return py::reinterpret_steal<py::bytes>(bytes);
}

// Called without the GIL, at least every 50 ms while a call waits. What a signal handler raises stays set for set_error().
// Handlers run on the main thread only, so no other thread needs to take the GIL.
bool interrupted() {
  if (!on_main_thread() && !hook_interrupt::is_kept()) {
    park_if_finalizing();
    return false;
  }
  const Gil gil;
  return interruption_raised();
}

int count(py::handle value, const char* name) {
  const auto number = integer(value, name);
  return static_cast<int>(std::clamp<std::int64_t>(number, -1, std::numeric_limits<int>::max()));
}

ClientOptions client_options(const std::vector<py::handle>& values) {
  ClientOptions options;
  if (given(values[0])) options.base_url = utf8(values[0], "base_url");
  if (given(values[1])) options.api_key = utf8(values[1], "api_key");
  if (given(values[2])) {
    options.timeout = milliseconds(values[2]);
  } else if (!left_out(values[2])) {
    options.timeout = no_timeout;
  }
  if (!left_out(values[3])) options.max_retries = count(values[3], "max_retries");
  if (!left_out(values[4])) options.concurrency = count(values[4], "concurrency");
  if (given(values[5])) options.proxy = utf8(values[5], "proxy");
  if (given(values[6])) options.ca_bundle = path_text(values[6], "ca_bundle");
  if (given(values[7])) options.client_certificate = path_text(values[7], "client_certificate");
  if (given(values[8])) options.headers = pairs_of(values[8], "headers", only_text);
  if (given(values[9])) options.http2 = boolean(values[9], "http2");
  if (!left_out(values[10])) options.allow_insecure_http = boolean(values[10], "allow_insecure_http");
  if (!left_out(values[11])) options.request_id_header = utf8(values[11], "request_id_header");
  if (!left_out(values[12])) options.max_response = size(values[12], "max_response");
  options.interrupt = interrupted;
  return options;
}

ClientChanges client_changes(const std::vector<py::handle>& values) {
  ClientChanges changes;
  if (given(values[0])) {
    changes.timeout = milliseconds(values[0]);
  } else if (!left_out(values[0])) {
    changes.timeout = no_timeout;
  }
  if (!left_out(values[1])) changes.max_retries = count(values[1], "max_retries");
  if (!left_out(values[2])) changes.concurrency = count(values[2], "concurrency");
  if (!left_out(values[3])) {
    changes.headers.emplace();
    if (!values[3].is_none()) changes.headers = pairs_of(values[3], "headers", only_text);
  }
  return changes;
}

}  // namespace

Sender make_sender(const std::vector<py::handle>& values, std::shared_ptr<Waiter> waiter) {
  HooksOption hooks;
  if (given(values[13])) hooks = HooksOption(py::reinterpret_borrow<py::object>(values[13]));
  return {Client(client_options(values)), std::move(hooks), std::move(waiter)};
}

Sender changed_sender(const Sender& sender, const std::vector<py::handle>& values) {
  return {sender.client.with_options(client_changes(values)), sender.hooks, sender.waiter};
}

Pairs query_pairs(py::handle value) { return pairs_of(value, "query", text_or_number); }

std::chrono::milliseconds milliseconds(py::handle seconds) {
  if (PyBool_Check(seconds.ptr()) || PyNumber_Check(seconds.ptr()) == 0) {
    refuse("timeout must be a number of seconds, or None for no deadline, not " + type_name(seconds));
  }
  const double number = real(seconds, "timeout");
  if (std::isnan(number)) refuse("timeout must not be NaN");
  constexpr double longest = 1e9;  // 30 years, and no overflow
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(std::clamp(number, -1.0, longest) * 1000)));
}

CallOptions call_options(py::handle timeout) {
  CallOptions options;
  if (given(timeout)) {
    options.timeout = milliseconds(timeout);
  } else if (!left_out(timeout)) {
    options.timeout = no_timeout;
  }
  return options;
}

}  // namespace billcore::python
