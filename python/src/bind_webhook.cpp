// The module billcore._webhook: signatures and events; also home of all types and of the error translator.
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "billcore/webhook.hpp"
#include "bind_error.hpp"
#include "bind_event.hpp"
#include "bind_json.hpp"
#include "bind_model.hpp"
#include "bind_response.hpp"
#include "bridge.hpp"

namespace billcore::python {
namespace {

// Up to here hashing is faster than handing the GIL to another thread and back.
constexpr std::size_t large_body = std::size_t{64} << 10U;

template <typename F>
auto without_gil_if(bool large, F&& f) {
  std::optional<py::gil_scoped_release> release;
  if (large) release.emplace();
  return f();
}

// ---- Arguments --------------------------------------------------------------------------------------------------------------

/// The bytes of a buffer, borrowed.
class Buffer {
 public:
  explicit Buffer(py::handle body) {
    auto* object = body.ptr();
    if (PyUnicode_Check(object)) refuse("body is a str: pass the raw bytes of the request, decoding can change them");
    if (PyDict_Check(object))
      refuse("body is a dict: pass the raw bytes of the request, parsing loses what was signed");
    if (body.is_none()) refuse("body is None: pass the raw bytes of the request (b'' when there are none)");
    if (PyObject_CheckBuffer(object) == 0) refuse("body must be bytes or another buffer, not " + type_name(body));
    if (PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) != 0) {
      PyErr_Clear();
      refuse("body is a buffer that is not contiguous: pass bytes(body)");
    }
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::string_view text() const noexcept {
    return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

std::string_view bytes_of(py::handle bytes) noexcept {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

/// Text or bytes of a header; a text that UTF-8 cannot hold becomes one that no signature is.
std::optional<std::string_view> header_value(py::handle value) {
  if (PyBytes_Check(value.ptr())) return bytes_of(value);
  if (!PyUnicode_Check(value.ptr())) return std::nullopt;
  py::ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    return "?";
  }
  return std::string_view(text, static_cast<std::size_t>(size));
}

std::optional<std::string_view> signature_of(py::handle signature) {
  if (signature.is_none()) return std::nullopt;
  const auto value = header_value(signature);
  if (!value) refuse("signature must be a str, bytes, or None when the header is missing, not " + type_name(signature));
  return value;
}

std::string_view secret_of(py::handle secret) {
  if (PyBytes_Check(secret.ptr())) return bytes_of(secret);
  if (!PyUnicode_Check(secret.ptr())) refuse("a secret must be a str or bytes, not " + type_name(secret));
  return utf8(secret, "a secret");
}

/// Copies: they live no longer than it takes to prepare the keys.
std::vector<std::string> secrets_of(py::handle secrets) {
  if (PyBytes_Check(secrets.ptr()) || PyUnicode_Check(secrets.ptr())) return {std::string(secret_of(secrets))};
  if (PySequence_Check(secrets.ptr()) == 0 || PyObject_CheckBuffer(secrets.ptr()) != 0) {
    refuse("secret must be a str, bytes, or a sequence of them, not " + type_name(secrets));
  }
  std::vector<std::string> out;
  for (const auto secret : secrets) out.emplace_back(secret_of(secret));
  return out;
}

VerifierOptions options_of(py::handle header, py::handle max_body) {
  VerifierOptions options;
  if (!left_out(header)) options.header = utf8(header, "header");
  if (!left_out(max_body)) options.max_body = size(max_body, "max_body");
  return options;
}

Verifier make_verifier(py::handle secrets, py::handle header, py::handle max_body, bool any_length = false) {
  const auto texts = secrets_of(secrets);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  auto options = options_of(header, max_body);
  return any_length ? Verifier::allowing_any_key_length(views, std::move(options))
                    : Verifier(views, std::move(options));
}

/// A mapping (values may be lists) or pairs; names and values str or bytes.
std::optional<std::string> find_signature(const Verifier& verifier, py::handle headers) {
  if (headers.is_none() || PyUnicode_Check(headers.ptr()) || PyBytes_Check(headers.ptr())) {
    refuse("headers must be a mapping or pairs of name and value, not " + type_name(headers));
  }
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&](std::string_view name, py::handle value) {
    if (const auto text = header_value(value)) {
      fields.emplace_back(name, *text);
      return;
    }
    if (value.is_none()) return;
    // Frameworks keep odd things among the headers; only the one that is looked for must be right.
    const std::pair<std::string_view, std::string_view> only{name, ""};
    if (verifier.find_signature({&only, 1})) {
      refuse("headers: the value of the signature header must be str or bytes, not " + type_name(value));
    }
  };
  const py::object pairs = PyObject_HasAttrString(headers.ptr(), "items") != 0
                               ? py::object(headers.attr("items")())
                               : py::reinterpret_borrow<py::object>(headers);
  if (!py::isinstance<py::iterable>(pairs)) {
    refuse("headers must be a mapping or pairs of name and value, not " + type_name(headers));
  }
  for (const auto entry : pairs) {
    if (!(PyTuple_Check(entry.ptr()) || PyList_Check(entry.ptr())) || py::len(entry) != 2) {
      refuse("headers must be a mapping or pairs of name and value");
    }
    const auto pair = py::reinterpret_borrow<py::sequence>(entry);
    const py::object key = pair[0];
    const py::object value = pair[1];
    const auto name = header_value(key);
    if (!name) refuse("headers: a name must be str or bytes, not " + type_name(key));
    if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) {
      for (const auto one : value) add(*name, one);
    } else {
      add(*name, value);
    }
  }
  const std::vector<std::pair<std::string_view, std::string_view>> views(fields.begin(), fields.end());
  return verifier.find_signature(views);
}

// ---- Verify and unwrap ------------------------------------------------------------------------------------------------------

struct Outcome {
  std::size_t secret_index;
};

Outcome verify(const Verifier& verifier, py::handle body, std::optional<std::string_view> signature) {
  const Buffer buffer(body);
  return without_gil_if(buffer.text().size() > large_body,
                        [&] { return Outcome{verifier.verify(buffer.text(), signature).secret_index()}; });
}

py::object unwrap(const Verifier& verifier, py::handle body, std::optional<std::string_view> signature) {
  py::bytes kept;
  if (PyBytes_CheckExact(body.ptr())) {
    kept = py::reinterpret_borrow<py::bytes>(body);
  } else {
    // Copied before it is checked, since another thread could change it in between; but not when it is too large anyway.
    const Buffer buffer(body);
    const auto text = buffer.text();
    if (text.size() > verifier.options().max_body) static_cast<void>(verifier.verify(text, signature));
    kept = py::bytes(text.data(), text.size());
  }
  const auto text = bytes_of(kept);
  // The Event object keeps the bytes, and outlives everything else that reads them only through resources that do, too.
  auto* owner = kept.inc_ref().ptr();
  const std::shared_ptr<const void> keep(
      owner, [](const void* object) { Py_DECREF(static_cast<PyObject*>(const_cast<void*>(object))); });
  auto event = without_gil_if(text.size() > large_body, [&] {
    return verifier.unwrap_shared({text, keep}, signature);
  });
  return make_event(std::move(event), std::move(kept));
}

[[noreturn]] void refuse_pickle(const py::object& /*self*/) {
  throw py::type_error("a Verifier cannot be pickled or copied: it holds signing secrets; make one where it is needed");
}

// ---- The module -------------------------------------------------------------------------------------------------------------

constexpr const char* verifier_doc =
    R"(Checks the signatures of one endpoint; its keys are prepared once.

secrets: str or bytes of 32 bytes, or a sequence of them while one is being replaced; others are ConfigError.
header: name of the signature header, looked up without regard to case. max_body: larger bodies are refused unread.
Threads: may be shared by any number. Service interface: Events, Request headers.)";

void bind_verifier(py::module_& module) {
  static const Signature create("Verifier(secrets, header='Service-Signature', max_body=1048576)");
  auto type = py::class_<Verifier>(module, "Verifier", create.doc(verifier_doc).c_str());
  type.attr("__doc__") = verifier_doc;
  type.attr("__module__") = "billcore.webhooks";

  static const Signature init("__init__(self, secrets, header='Service-Signature', max_body=1048576)");
  type.def(py::init([](const py::args& args, const py::kwargs& kwargs) {
             const auto values = create.bind(args, kwargs);
             return make_verifier(values[0], values[1], values[2]);
           }),
           init.doc("Prepares the keys.").c_str());

  static const Signature any("allowing_any_key_length(secrets, header='Service-Signature', max_body=1048576)");
  type.def_static(
      "allowing_any_key_length",
      [](const py::args& args, const py::kwargs& kwargs) {
        const auto values = any.bind(args, kwargs);
        return make_verifier(values[0], values[1], values[2], true);
      },
      any.doc("For test vectors and foreign keys: secrets of any length but zero. The service's own have 32 bytes.")
          .c_str());

  static const Signature verify_signature("verify(self, body, signature)");
  type.def(
      "verify",
      [](const Verifier& self, const py::args& args, const py::kwargs& kwargs) {
        const auto values = verify_signature.bind(args, kwargs);
        return verify(self, values[0], signature_of(values[1]));
      },
      verify_signature
          .doc("Check the signature of a body; raises SignatureError.\n\n"
               "body: the raw bytes (any buffer). signature: the header's value, None when it is missing.")
          .c_str());

  static const Signature unwrap_signature("unwrap(self, body, signature)");
  type.def(
      "unwrap",
      [](const Verifier& self, const py::args& args, const py::kwargs& kwargs) {
        const auto values = unwrap_signature.bind(args, kwargs);
        return unwrap(self, values[0], signature_of(values[1]));
      },
      unwrap_signature.doc("Verify, then parse. Raises SignatureError, or DecodeError when the body is no event.")
          .c_str());

  static const Signature request_signature("unwrap_request(self, body, headers)");
  type.def(
      "unwrap_request",
      [](const Verifier& self, const py::args& args, const py::kwargs& kwargs) {
        const auto values = request_signature.bind(args, kwargs);
        const auto found = find_signature(self, values[1]);
        return unwrap(self, values[0], found ? std::optional<std::string_view>(*found) : std::nullopt);
      },
      request_signature
          .doc(R"(Like unwrap, with the signature found among the request's headers.

headers: a mapping (values may be lists) or pairs; names in any case; str or bytes. Several different values are
malformed.)")
          .c_str());

  type.def("__repr__", [](const Verifier& self) {
    return py::str("<billcore.webhooks.Verifier header={!r} secrets={}>")
        .format(self.options().header, self.secret_count());
  });
  static const Signature reduce("__reduce__(self)");
  type.def("__reduce__", &refuse_pickle, reduce.doc("Refused: TypeError.").c_str());
}

void bind_functions(py::module_& module) {
  static const Signature verify_signature("verify(body, signature, secret, *, max_body=1048576)");
  module.def(
      "verify",
      [](const py::args& args, const py::kwargs& kwargs) {
        const auto values = verify_signature.bind(args, kwargs);
        return verify(make_verifier(values[2], {}, values[3]), values[0], signature_of(values[1]));
      },
      verify_signature
          .doc("Check a webhook's signature; raises SignatureError.\n\n"
               "body: the raw bytes as received (any buffer). signature: the header's value, None when it is missing.\n"
               "secret: 32 bytes, str or bytes, or a sequence of them. max_body: larger bodies are refused unread.\n"
               "A handler that runs often keeps a Verifier. Service interface: Events, Request headers.")
          .c_str());

  static const Signature unwrap_signature("unwrap(body, signature, secret, *, max_body=1048576)");
  module.def(
      "unwrap",
      [](const py::args& args, const py::kwargs& kwargs) {
        const auto values = unwrap_signature.bind(args, kwargs);
        return unwrap(make_verifier(values[2], {}, values[3]), values[0], signature_of(values[1]));
      },
      unwrap_signature
          .doc("Verify, then parse: the Event. Raises SignatureError, or DecodeError when the body is no event.\n\n"
               "Arguments as of verify(). Service interface: Events.")
          .c_str());

  static const Signature sign_signature("sign(body, secret)");
  module.def(
      "sign",
      [](const py::args& args, const py::kwargs& kwargs) {
        const auto values = sign_signature.bind(args, kwargs);
        const Buffer buffer(values[0]);
        const auto secret = secret_of(values[1]);
        return without_gil_if(buffer.text().size() > large_body, [&] { return webhooks::sign(buffer.text(), secret); });
      },
      sign_signature
          .doc("The signature the service would send, 64 lowercase hex digits: for tests of your own receiver.")
          .c_str());
  for (const char* name : {"verify", "unwrap", "sign"}) module.attr(name).attr("__module__") = "billcore.webhooks";
}

PyObject* make_plain(const Value& value) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return plain(value).release().ptr(); });
}

}  // namespace
}  // namespace billcore::python

PYBIND11_MODULE(_webhook, module) {
  using namespace billcore::python;
  py::options options;
  options.disable_function_signatures();
  module.doc() = "Signatures, events and typed resources. Import billcore and billcore.webhooks instead.";
  module.attr("__version__") = BILLCORE_VERSION;
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const billcore::Error& error) {
      set_error(error);
    }
  });

  bind_model(module);
  bind_event(module);
  bind_response_info(module);
  auto verified = py::class_<Outcome>(module, "Verified", py::is_final(), "The signature is right. Always true.");
  verified.attr("__module__") = "billcore.webhooks";
  verified.def_property_readonly(
      "secret_index", [](const Outcome& self) { return self.secret_index; },
      "Which secret matched; the first one, when several do.");
  verified.def("__bool__", [](const Outcome&) { return true; });
  verified.def("__repr__", [](const Outcome& self) {
    return py::str("<billcore.webhooks.Verified secret_index={}>").format(self.secret_index);
  });
  bind_verifier(module);
  bind_functions(module);

  py::dict codes;
  for (const auto& row : billcore::error_code_table) {
    codes[row.name] = py::make_tuple(static_cast<int>(row.code), row.python_class);
  }
  module.attr("_error_codes") = codes;

  static const Bridge bridge{BILLCORE_BUILD_ID, make_view, make_plain, make_response_info, set_error};
  module.attr("_bridge") = py::capsule(&bridge, bridge_name);
}
