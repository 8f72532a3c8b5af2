#include "webhook/verifier.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "shared/busy.hpp"
#include "shared/classes.hpp"
#include "shared/error.hpp"
#include "shared/fast_call.hpp"
#include "shared/objects.hpp"
#include "shared/webhook_docs.hpp"
#include "webhook/event.hpp"
#include "webhook/webhook_arguments.hpp"

namespace billcore::python {
namespace {

// ---- Verified ---------------------------------------------------------------------------------------------------------------

struct VerifiedObject {
  PyObject head;
  std::size_t secret_index;
};

PyTypeObject* verified_type = nullptr;

std::size_t index_of(PyObject* self) noexcept { return reinterpret_cast<VerifiedObject*>(self)->secret_index; }

py::object make_verified(std::size_t secret_index) {
  auto* object = PyObject_New(VerifiedObject, verified_type);
  if (object == nullptr) throw py::error_already_set();
  object->secret_index = secret_index;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

std::array verified_getset{
    PyGetSetDef{"secret_index",
                [](PyObject* self, void* /*closure*/) -> PyObject* { return PyLong_FromSize_t(index_of(self)); },
                nullptr, docs::verified_secret_index, nullptr},
    PyGetSetDef{},
};

void bind_verified(py::module_& module) {
  constexpr auto is_true = [](PyObject* /*self*/) noexcept { return 1; };
  constexpr auto repr = [](PyObject* self) noexcept {
    return PyUnicode_FromFormat("<Verified secret_index=%zu>", index_of(self));
  };
  verified_type = make_type<VerifiedObject>(module, "billcore.webhooks.Verified", docs::about_verified,
                                            {{Py_tp_dealloc, slot(free_object)},
                                             {Py_tp_getset, verified_getset.data()},
                                             {Py_nb_bool, slot(+is_true)},
                                             {Py_tp_repr, slot(+repr)}});
}

// ---- VerifyStream -----------------------------------------------------------------------------------------------------------

/// The C++ class behind Python's VerifyStream. While one thread hashes a large piece without the GIL, calls from other
/// threads fail.
class Stream {
 public:
  explicit Stream(VerifyStream stream) : stream_(std::move(stream)) {}

  template <typename F>
  auto use(F&& f) {
    const Busy busy(busy_, "the stream is in use by another thread: a stream belongs to one thread at a time");
    return f(stream_);
  }

 private:
  VerifyStream stream_;
  bool busy_ = false;
};

py::object stream_update(PyObject* self, const Call& call) {
  const Buffer piece(parsed<docs::verify_stream_update_signature>().bind<1>(call)[0], "piece");
  held<Stream>(self).use([&](VerifyStream& stream) {
    without_gil_if(piece.text().size() > large_body, [&] { stream.update(piece.text()); });
  });
  return py::none();
}

// ---- Verifier ---------------------------------------------------------------------------------------------------------------

/// The C++ class behind Python's Verifier.
class BoundVerifier : public Verifier {
 public:
  BoundVerifier(const Verifier& verifier, ClockFunction clock) : Verifier(verifier), clock_(std::move(clock)) {}
  ~BoundVerifier() { clear(); }
  BoundVerifier(BoundVerifier&&) = default;
  BoundVerifier& operator=(BoundVerifier&&) = delete;
  BoundVerifier(const BoundVerifier&) = delete;
  BoundVerifier& operator=(const BoundVerifier&) = delete;

  int traverse(visitproc visit, void* arg) const {
    if (clock_ != nullptr) Py_VISIT(clock_->ptr());
    return 0;
  }
  void clear() noexcept {
    if (clock_ != nullptr) *clock_ = py::object();
  }

 private:
  ClockFunction clock_;
};

/// Makes a Verifier from the first argument of a constructor (its secrets or accounts) and the options.
using VerifierMaker = Verifier (*)(py::handle given, const VerifierOptions& options);

BoundVerifier make_verifier(const std::vector<py::handle>& values, VerifierMaker make) {
  auto clock = clock_function(values[4]);
  const auto options = verifier_options(values[1], values[2], values[3], clock);
  return {make(values[0], options), std::move(clock)};
}

Verifier of_secrets(py::handle given, const VerifierOptions& options) {
  return Verifier(Secrets(given, "secrets").texts(), options);
}
Verifier of_any_secrets(py::handle given, const VerifierOptions& options) {
  return Verifier::allowing_any_key_length(Secrets(given, "secrets").texts(), options);
}
Verifier of_accounts(py::handle given, const VerifierOptions& options) {
  const AccountsArgument accounts(given);
  return Verifier::for_accounts(accounts.accounts(), options);
}

py::object verifier_init(PyObject* self, const Call& call) {
  initialise<BoundVerifier>(
      self, [&] { return make_verifier(parsed<docs::verifier_init_signature>().bind(call), of_secrets); });
  return py::none();
}

template <const auto& text, VerifierMaker make>
py::object verifier_of(PyObject* /*self*/, const Call& call) {
  return py::cast(make_verifier(parsed<text>().bind(call), make));
}

py::object verifier_verify(PyObject* self, const Call& call) {
  const auto& verifier = held<BoundVerifier>(self);
  const auto [body, signature] = parsed<docs::verifier_verify_signature>().bind<2>(call);
  return verify(verifier, body, signature);
}

py::object verifier_unwrap(PyObject* self, const Call& call) {
  const auto& verifier = held<BoundVerifier>(self);
  const auto [body, signature] = parsed<docs::verifier_unwrap_signature>().bind<2>(call);
  return unwrap(verifier, body, signature_of(signature));
}

py::object verifier_unwrap_request(PyObject* self, const Call& call) {
  const auto& verifier = held<BoundVerifier>(self);
  const auto [body, headers] = parsed<docs::verifier_unwrap_request_signature>().bind<2>(call);
  const auto found = find_signature(verifier, headers);
  return unwrap(verifier, body, found ? std::optional<std::string_view>(*found) : std::nullopt);
}

}  // namespace

py::object verify(const Verifier& verifier, py::handle body, py::handle signature) {
  const auto header = signature_of(signature);
  const Buffer buffer(body);
  return make_verified(without_gil_if(buffer.text().size() > large_body,
                                      [&] { return verifier.verify(buffer.text(), header).secret_index(); }));
}

py::object unwrap(const Verifier& verifier, py::handle body, std::optional<std::string_view> signature) {
  // Copies a buffer before checking its signature: another thread could change the buffer between the check and the
  // parsing. A body that is too large is refused before it is copied.
  if (!PyBytes_CheckExact(body.ptr())) {
    const Buffer buffer(body);
    if (buffer.text().size() > verifier.options().max_body)
      static_cast<void>(verifier.unwrap(buffer.text(), signature));
  }
  auto kept = own_bytes(body);
  const auto text = shared_text(kept);
  auto event = without_gil_if(text.text.size() > large_body, [&] { return verifier.unwrap_shared(text, signature); });
  return make_event(std::move(event), std::move(kept));
}

void bind_verifier(py::module_& module) {
  bind_verified(module);
  constexpr const char* home = "billcore.webhooks";
  auto type = open_class<BoundVerifier>(module, "Verifier", docs::verifier_init_signature, docs::about_verifier, home);

  def_method(type, parsed<docs::verifier_init_signature>(), fast_call<verifier_init>, docs::verifier_init);

  def_static_method(type, parsed<docs::verifier_allowing_any_key_length_signature>(),
                    fast_call<verifier_of<docs::verifier_allowing_any_key_length_signature, of_any_secrets>>,
                    docs::verifier_allowing_any_key_length);
  def_static_method(type, parsed<docs::verifier_for_accounts_signature>(),
                    fast_call<verifier_of<docs::verifier_for_accounts_signature, of_accounts>>,
                    docs::verifier_for_accounts);

  def_method(type, parsed<docs::verifier_verify_signature>(), fast_call<verifier_verify>, docs::verifier_verify);
  def_method(type, parsed<docs::verifier_unwrap_signature>(), fast_call<verifier_unwrap>, docs::verifier_unwrap);
  def_method(type, parsed<docs::verifier_unwrap_request_signature>(), fast_call<verifier_unwrap_request>,
             docs::verifier_unwrap_request);

  def<docs::verifier_stream_signature>(type, docs::verifier_stream,
                                       [](const BoundVerifier& self) { return Stream(self.stream()); });

  type.def_property_readonly(
      "matches",
      [](const BoundVerifier& self) {
        const auto counts = self.matches();
        py::tuple out(counts.size());
        for (std::size_t i = 0; i < counts.size(); ++i) out[i] = py::int_(counts[i]);
        return out;
      },
      docs::verifier_matches);
  type.def_property_readonly(
      "header", [](const BoundVerifier& self) { return self.options().header; }, docs::verifier_header);
  type.def_property_readonly(
      "max_body", [](const BoundVerifier& self) { return self.options().max_body; }, docs::verifier_max_body);
  type.def("__repr__", [](const py::object& self) {
    const auto* const verifier = held_or_null<BoundVerifier>(self.ptr());
    if (verifier == nullptr) return py::str("<Verifier, never initialised>");
    return py::str("<Verifier header={!r} secrets={}>").format(verifier->options().header, verifier->secret_count());
  });
  refuse_copies(type, "it holds signing secrets; make one where it is needed");

  auto stream_type = final_class<Stream>(module, "VerifyStream", docs::about_verify_stream,
                                         "it holds a signing key; make one where it is needed", home);
  def_method(stream_type, parsed<docs::verify_stream_update_signature>(), fast_call<stream_update>,
             docs::verify_stream_update);
  def<docs::verify_stream_finish_signature>(
      stream_type, docs::verify_stream_finish, [](Stream& self, const Call& call) {
        const auto signature = signature_of(parsed<docs::verify_stream_finish_signature>().bind(call)[0]);
        return self.use([&](VerifyStream& pieces) { return make_verified(pieces.finish(signature)); });
      });
}

}  // namespace billcore::python
