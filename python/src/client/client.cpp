// The module billcore._client: the REST client.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "billcore/detail/outcome.hpp"
#include "billcore/error.hpp"
#include "call/interruption.hpp"
#include "call/job.hpp"
#include "call/json_text.hpp"
#include "call/sender.hpp"
#include "client/common.hpp"
#include "shared/error.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

const Bridge* the_bridge = nullptr;

void find_bridge() {
  py::module_::import("billcore._webhook");
  const auto* found = static_cast<const Bridge*>(PyCapsule_Import(bridge_name, 0));
  if (found == nullptr) throw py::error_already_set();
  if (std::strcmp(found->build_id, BILLCORE_BUILD_ID) != 0) {
    throw py::import_error("billcore._client and billcore._webhook are of different builds (" BILLCORE_BUILD_ID ", " +
                           std::string(found->build_id) + "): reinstall billcore");
  }
  the_bridge = found;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

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
    options.timeout.reset();
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
    changes.no_timeout = true;
  }
  if (!left_out(values[1])) changes.max_retries = count(values[1], "max_retries");
  if (!left_out(values[2])) changes.concurrency = count(values[2], "concurrency");
  if (!left_out(values[3])) {
    changes.headers.emplace();
    if (!values[3].is_none()) changes.headers = pairs_of(values[3], "headers", only_text);
  }
  return changes;
}

struct PyResponse {
  Response response;
};

void bind_response(py::module_& module) {
  auto type = py::class_<PyResponse>(module, "Response", py::is_final(),
                                     "An answer as it came, where the interface does not say what it holds.");
  type.attr("__module__") = "billcore";
  refuse_copies(type, "keep its status, headers and body");
  type.def_property_readonly(
      "status", [](const PyResponse& self) { return self.response.status(); }, "HTTP status.");
  const auto info = [](const PyResponse& self) { return response_info(self.response.response_info()); };
  type.def_property_readonly(
      "headers", [info](const PyResponse& self) { return py::object(info(self).attr("headers")); },
      "dict; names in lower case, values of one name joined by commas.");
  type.def_property_readonly(
      "body", [](const PyResponse& self) { return py::bytes(self.response.body()); }, "The body as received, bytes.");
  type.def_property_readonly("response_info", info, "Status, headers, attempts and request id.");
  static const Signature json("json(self)");
  type.def(
      "json",
      [](const PyResponse& self) {
        auto* out = bridge().make_plain(self.response.json());
        if (out == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(out);
      },
      json.doc("The body as plain JSON values; DecodeError when it is no JSON.").c_str());
  type.def("__repr__", [](const PyResponse& self) {
    return "<billcore.Response status=" + std::to_string(self.response.status()) + '>';
  });
}

constexpr const char* client_doc =
    R"(The REST client: every operation of the service. Reads are repeated where that may help, writes never.

base_url: address of the service up to and including the account segment; left out, BILLCORE_BASE_URL.
api_key: left out, BILLCORE_API_KEY. timeout: seconds for a whole call with all its attempts, None for no deadline.
max_retries: further attempts where one is safe: of a read when no connection came about, the answer broke off, or
its status is 408, 429 or 5xx; of a write only when nothing of it was sent; 0 means exactly one send.
concurrency: pages of a list on their way at once. proxy: its URL (http, https, socks4, socks4a, socks5, socks5h), ''
for none; left out, HTTPS_PROXY, ALL_PROXY and NO_PROXY count, but never for loopback. ca_bundle: file of PEM
certificates to trust; left out, SSL_CERT_FILE, SSL_CERT_DIR or the system's. client_certificate: file of PEM with a
certificate and its key, for a service that asks for one. headers: sent with every request. http2: True offers it,
False does not; None offers it where the libcurl in use withstands floods of small frames. allow_insecure_http: allow
http to hosts that are not loopback. request_id_header: header whose value errors show as request_id. max_response:
larger answers are refused (bytes). hooks: told of every attempt, see Hooks. Raises ConfigError when an option cannot
work. Threads: may be shared by any number; works in the child of a fork.
Service interface: Endpoints; Authentication; Errors.)";

void bind_client(py::module_& module) {
  static const Signature create("Client(" BILLCORE_CLIENT_PARAMETERS);
  auto type = py::class_<SyncClient>(module, "Client", collected<SyncClient>(), create.doc(client_doc).c_str(),
                                     py::metaclass(guarding_metaclass()));
  type.attr("__doc__") = client_doc;
  type.attr("__module__") = "billcore";
  constexpr auto no_loops = [] { return std::shared_ptr<Loops>(); };
  def_method(type, init_signature(), fast_call<init_client<SyncClient, no_loops>>, "Connects to nothing yet.");
  bind_common(type);
  static const Signature close("close(self)");
  const auto end = [](const py::object& self) {
    if (auto* const own = held_or_null<SyncClient>(self.ptr())) without_gil([&] { own->client.close(); });
  };
  type.def("close", end,
           close.doc("Close idle connections; calls under way finish, later ones raise ConfigError.").c_str());
  type.def("__enter__", [](const py::object& self) {
    static_cast<void>(held<SyncClient>(self.ptr()));
    return self;
  });
  type.def("__exit__", [end](const py::object& self, const py::args& /*args*/) { end(self); });
}

}  // namespace

const Bridge& bridge() noexcept { return *the_bridge; }

void set_error(const Error& error) noexcept { bridge().set_error(error); }

void raise_for(const Error& error) {
  set_error(error);
  throw py::error_already_set();
}

namespace {

// Sends what the job wants sent, and waits.
void send(const Sender& sender, Job& job) {
  while (const auto operation = job.next()) {
    job.set_hooks(sender.hooks.for_call(false));
    without_gil(
        [&] { sender.client.send(*operation, job.options(), [&job](Completed& completed) { job.take(completed); }); });
  }
}

// A signal that arrived after the last look of the engine would make Python throw the result away in silence. So the last
// look is here, while the call still holds it.
py::object finish(Job& job, py::object result) {
  job.release();
  if (!interruption_raised()) return result;
  annotate_error(job.outcome());
  job.take_back();
  throw py::error_already_set();
}

// The same for a call that failed: what it raised becomes the context. The look comes first, since the error is made by
// Python code, in which a handler would run and raise.
[[noreturn]] void fail(Job& job, const Error& error) {
  job.release();
  job.take_back();
  if (error.code() == ErrorCode::interrupted) raise_for(error);
  std::optional<py::error_already_set> interruption;
  if (interruption_raised()) interruption.emplace();
  const auto note = job.is_write() ? detail::interrupted_after_error(error) : std::string();
  try {
    raise_for(error);
  } catch (py::error_already_set& raised) {
    if (interruption) {
      interruption->restore();
      annotate_error(note, raised.value());
    } else {
      const bool is_own = py::hasattr(raised.value(), "outcome_unknown");
      raised.restore();
      if (!is_own) annotate_error(note);  // a handler has raised after all
    }
  }
  throw py::error_already_set();
}

}  // namespace

py::object run(const Sender& sender, std::unique_ptr<Job> job, const char* name) {
  if (sender.loops != nullptr) return make_awaitable(sender, std::move(job), name);
  try {
    // For the error of a write: a signal handler that runs during an import must not meet half a module.
    if (job->is_write()) need_datetime();
    send(sender, *job);
    return finish(*job, job->result());
  } catch (const Error& error) {
    fail(*job, error);
  } catch (const py::error_already_set&) {  // the end of a list, or an interruption between two pages
    job->take_back();
    throw;
  }
}

Sender make_sender(const std::vector<py::handle>& values, std::shared_ptr<Loops> loops) {
  HooksOption hooks;
  if (given(values[13])) hooks = HooksOption(py::reinterpret_borrow<py::object>(values[13]));
  return {Client(client_options(values)), std::move(hooks), std::move(loops)};
}

Sender changed_sender(const Sender& sender, const std::vector<py::handle>& values) {
  return {sender.client.with_options(client_changes(values)), sender.hooks, sender.loops};
}

py::object request(const Sender& sender, const std::vector<py::handle>& values) {
  RequestOptions options;
  const auto method = utf8(values[0], "method");
  const auto path = utf8(values[1], "path");
  if (given(values[2])) options.query = pairs_of(values[2], "query", text_or_number);
  if (!left_out(values[3])) options.json = json_text(values[3], "json");
  if (!left_out(values[4])) options.raise_on_error = boolean(values[4], "raise_on_error");
  return run(sender,
             std::make_unique<ResponseJob>(operations::request(method, path, options), options.raise_on_error,
                                           call_options(values[5])),
             "request");
}

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
    options.no_deadline = true;
  }
  return options;
}

py::object make_response(Response response) { return py::cast(PyResponse{std::move(response)}); }

}  // namespace billcore::python

// pybind11's own start of a module waits for ever in a subinterpreter, so it is reached through the function below.
PYBIND11_MODULE(client_in_main_interpreter, module) {
  using namespace billcore::python;
  py::options options;
  options.disable_function_signatures();
  find_bridge();
  module.doc() = "The REST client. Import billcore instead.";
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const billcore::Error& error) {
      bridge().set_error(error);
    }
  });
  bind_response(module);
  bind_pager(module);
  bind_operations(module);
  bind_awaitable(module);
  bind_client(module);
  bind_async_client(module);
  guard_types(module, 16);
}

// The name that Python looks for. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" PYBIND11_EXPORT PyObject* PyInit__client() {
  return billcore::python::enter_interpreter() ? PyInit_client_in_main_interpreter() : nullptr;
}
