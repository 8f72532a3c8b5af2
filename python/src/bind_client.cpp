// The module billcore._client: the REST client.
#include "bind_client.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "billcore/error.hpp"
#include "json_text.hpp"

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
std::string text_or_number(py::handle value, const char* name) {
  return PyUnicode_Check(value.ptr()) ? only_text(value, name) : digits(value, name);
}

std::string path_text(py::handle value) {
  auto* bytes = static_cast<PyObject*>(nullptr);
  if (PyUnicode_FSConverter(value.ptr(), &bytes) == 0) {
    PyErr_Clear();
    refuse("ca_bundle must be the path of a file, not " + type_name(value));
  }
  return py::reinterpret_steal<py::bytes>(bytes);
}

// Called without the GIL, at least every 50 ms while a call waits. What a signal handler raises stays set for set_error().
bool interrupted() {
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

int retries(py::handle value) {
  const auto number = integer(value, "max_retries");
  return static_cast<int>(std::clamp<std::int64_t>(number, -1, std::numeric_limits<int>::max()));
}

// base_url, api_key, timeout, max_retries, proxy, ca_bundle, headers, http2, allow_insecure_http, request_id_header,
// max_response
ClientOptions client_options(const std::vector<py::handle>& values) {
  ClientOptions options;
  if (given(values[0])) options.base_url = utf8(values[0], "base_url");
  if (given(values[1])) options.api_key = utf8(values[1], "api_key");
  if (given(values[2])) {
    options.timeout = milliseconds(values[2]);
  } else if (!left_out(values[2])) {
    options.timeout.reset();
  }
  if (!left_out(values[3])) options.max_retries = retries(values[3]);
  if (given(values[4])) options.proxy = utf8(values[4], "proxy");
  if (given(values[5])) options.ca_bundle = path_text(values[5]);
  if (given(values[6])) options.headers = pairs_of(values[6], "headers", only_text);
  if (!left_out(values[7])) options.http2 = boolean(values[7], "http2");
  if (!left_out(values[8])) options.allow_insecure_http = boolean(values[8], "allow_insecure_http");
  if (!left_out(values[9])) options.request_id_header = utf8(values[9], "request_id_header");
  if (!left_out(values[10])) options.max_response = size(values[10], "max_response");
  options.interrupt = interrupted;
  return options;
}

// timeout, max_retries, headers
ClientChanges client_changes(const std::vector<py::handle>& values) {
  ClientChanges changes;
  if (given(values[0])) {
    changes.timeout = milliseconds(values[0]);
  } else if (!left_out(values[0])) {
    changes.no_timeout = true;
  }
  if (!left_out(values[1])) changes.max_retries = retries(values[1]);
  if (!left_out(values[2])) {
    changes.headers.emplace();
    if (!values[2].is_none()) changes.headers = pairs_of(values[2], "headers", only_text);
  }
  return changes;
}

struct PyResponse {
  Response response;
};

py::object request(const Client& self, const std::vector<py::handle>& values) {
  const auto method = utf8(values[0], "method");
  const auto path = utf8(values[1], "path");
  RequestOptions options;
  if (given(values[2])) options.query = pairs_of(values[2], "query", text_or_number);
  if (!left_out(values[3])) options.json = json_text(values[3], "json");
  if (!left_out(values[4])) options.raise_on_error = boolean(values[4], "raise_on_error");
  const auto call = call_options(values[5]);
  return make_response(without_gil([&] { return self.request(method, path, options, call); }));
}

void bind_response(py::module_& module) {
  auto type = py::class_<PyResponse>(module, "Response", py::is_final(),
                                     "An answer as it came, where the interface does not say what it holds.");
  type.attr("__module__") = "billcore";
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
proxy: its URL (http, https, socks4, socks4a, socks5, socks5h), '' for none; left out, HTTPS_PROXY, ALL_PROXY and
NO_PROXY count, but never for loopback. ca_bundle: file of PEM certificates to trust; left out, SSL_CERT_FILE,
SSL_CERT_DIR or the system's. headers: sent with every
request. http2: offer it.
allow_insecure_http: allow http to hosts that are not loopback. request_id_header: header whose value errors show as
request_id. max_response: larger answers are refused (bytes). Raises ConfigError when an option cannot work.
Threads: may be shared by any number; works in the child of a fork.
Service interface: Endpoints; Authentication; Errors.)";

#define BILLCORE_CLIENT_PARAMETERS                                                            \
  "*, base_url=None, api_key=None, timeout=30.0, max_retries=2, proxy=None, ca_bundle=None, " \
  "headers=None, http2=True, allow_insecure_http=False, request_id_header='X-Request-Id', max_response=67108864)"

[[noreturn]] void refuse_pickle(const py::object& /*self*/) {
  throw py::type_error("a Client cannot be pickled or copied: it holds an API key; make one where it is needed");
}

void bind_client(py::module_& module) {
  static const Signature create("Client(" BILLCORE_CLIENT_PARAMETERS);
  static const Signature init("__init__(self, " BILLCORE_CLIENT_PARAMETERS);
  auto type = py::class_<Client>(module, "Client", create.doc(client_doc).c_str());
  type.attr("__doc__") = client_doc;
  type.attr("__module__") = "billcore";
  type.def(py::init([](const py::args& args, const py::kwargs& kwargs) {
             return Client(client_options(create.bind(args, kwargs)));
           }),
           init.doc("Connects to nothing yet.").c_str());
  type.def_property_readonly("subscriptions", &Client::subscriptions, "Operations on subscriptions.");
  type.def_property_readonly("products", &Client::products, "Operations on products.");
  type.def_property_readonly("orders", &Client::orders, "Operations on orders.");
  type.def_property_readonly("webhook_endpoints", &Client::webhook_endpoints, "Operations on webhook endpoints.");

  static const Signature request_signature(
      "request(self, method, path, *, query=None, json=..., raise_on_error=True, timeout=...)");
  type.def(
      "request",
      [](const Client& self, const py::args& args, const py::kwargs& kwargs) {
        return request(self, request_signature.bind(args, kwargs));
      },
      request_signature
          .doc(R"(A request of your own; everything but GET is a write, sent at most once.

method: GET, POST, PUT, PATCH or DELETE. path: below the base URL, begins with a slash, percent-encoded.
query: mapping or pairs. json: the body; None is null. raise_on_error: False gives back every complete answer.)")
          .c_str());

  static const Signature changed("with_options(self, *, timeout=..., max_retries=..., headers=...)");
  type.def(
      "with_options",
      [](const Client& self, const py::args& args, const py::kwargs& kwargs) {
        return self.with_options(client_changes(changed.bind(args, kwargs)));
      },
      changed
          .doc("A client that differs in these options and shares everything else, connections included.\n\n"
               "headers: instead of all that were given. Closing it leaves the connections to the first one.")
          .c_str());

  static const Signature close("close(self)");
  type.def(
      "close", [](Client& self) { without_gil([&] { self.close(); }); },
      close.doc("Close idle connections; calls under way finish, later ones raise ConfigError.").c_str());
  type.def("__enter__", [](py::object self) { return self; });
  type.def("__exit__", [](Client& self, const py::args& /*args*/) { without_gil([&] { self.close(); }); });
  type.def("__repr__", [](const Client& /*self*/) { return "<billcore.Client>"; });
  static const Signature reduce("__reduce__(self)");
  type.def("__reduce__", &refuse_pickle, reduce.doc("Refused: TypeError.").c_str());
}

}  // namespace

const Bridge& bridge() noexcept { return *the_bridge; }

std::chrono::milliseconds milliseconds(py::handle seconds) {
  if (PyBool_Check(seconds.ptr()) || PyNumber_Check(seconds.ptr()) == 0) {
    refuse("timeout must be a number of seconds, or None for no deadline, not " + type_name(seconds));
  }
  const double number = PyFloat_AsDouble(seconds.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse("timeout must be a number of seconds, or None for no deadline");
  }
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

PYBIND11_MODULE(_client, module) {
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
  bind_client(module);
}
