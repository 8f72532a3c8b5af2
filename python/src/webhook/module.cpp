// The module billcore._webhook: signatures and events, the types that _client also uses, and the error translator.
#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "billcore/detail/libraries.hpp"
#include "billcore/detail/secret.hpp"
#include "billcore/webhook.hpp"
#include "shared/arguments.hpp"
#include "shared/bridge.hpp"
#include "shared/error.hpp"
#include "shared/fast_call.hpp"
#include "shared/interpreter.hpp"
#include "shared/uninitialised.hpp"
#include "shared/webhook_docs.hpp"
#include "webhook/event.hpp"
#include "webhook/json.hpp"
#include "webhook/model.hpp"
#include "webhook/money.hpp"
#include "webhook/response.hpp"
#include "webhook/verifier.hpp"
#include "webhook/webhook_arguments.hpp"

namespace billcore::python {
namespace {

// ---- The one-shot functions -------------------------------------------------------------------------------------------

/// A cached Verifier, with a copy of its secrets, which a look-up in the cache compares.
class CachedVerifier {
 public:
  CachedVerifier(const Secrets& secrets, std::size_t max_body)
      : verifier_(secrets.texts(), VerifierOptions{.max_body = max_body}), each_(secrets.texts().front().size()) {
    copies_.reserve(secrets.texts().size() * each_);
    for (const auto secret : secrets.texts())
      copies_.insert(copies_.end(), secret.begin(), secret.end());  // all secrets of a Verifier have the same length
  }

  [[nodiscard]] const Verifier& verifier() const noexcept { return verifier_; }
  [[nodiscard]] bool is(const Secrets& secrets, std::size_t max_body) const noexcept {
    if (max_body != verifier_.options().max_body || secrets.texts().size() != verifier_.secret_count()) return false;
    auto rest = detail::view(copies_);
    for (const auto secret : secrets.texts()) {
      if (!detail::equal_secrets(secret, rest.substr(0, each_))) return false;
      rest.remove_prefix(each_);
    }
    return true;
  }

 private:
  Verifier verifier_;
  std::size_t each_;
  detail::SecretText copies_;
};

/// Returns a Verifier for the secrets. Preparing keys takes about as long as hashing a small body, so a cache keeps the
/// last four Verifiers. The result is a copy, because the caller may release the GIL while it uses the Verifier.
/// Requires the GIL.
Verifier recent_verifier(py::handle secret, py::handle max_body) {
  static std::array<std::unique_ptr<const CachedVerifier>, 4> known;
  static std::size_t oldest = 0;
  const Secrets secrets(secret, "secret");
  const auto limit = left_out(max_body) ? default_max_body : size(max_body, "max_body");
  for (const auto& each : known) {
    if (each != nullptr && each->is(secrets, limit)) return each->verifier();
  }
  known[oldest] = std::make_unique<const CachedVerifier>(secrets, limit);
  const auto& made = *known[oldest];
  oldest = (oldest + 1) % known.size();
  return made.verifier();
}

py::object webhook_format_amount(PyObject* /*module*/, const Call& call) {
  const auto [amount, currency] = parsed<docs::format_amount_signature>().bind<2>(call);
  return py::str(amount_text(integer(amount, "amount"), utf8(currency, "currency")));
}

py::object webhook_verify(PyObject* /*module*/, const Call& call) {
  const auto [body, signature, secret, max_body] = parsed<docs::verify_signature>().bind<4>(call);
  return verify(recent_verifier(secret, max_body), body, signature);
}

py::object webhook_unwrap(PyObject* /*module*/, const Call& call) {
  const auto [body, signature, secret, max_body] = parsed<docs::unwrap_signature>().bind<4>(call);
  return unwrap(recent_verifier(secret, max_body), body, signature_of(signature));
}

py::object webhook_parse_unverified(PyObject* /*module*/, const Call& call) {
  const auto [raw] = parsed<docs::parse_unverified_signature>().bind<1>(call);
  auto kept = own_bytes(raw, "raw");
  const auto text = shared_text(kept);
  auto event = without_gil_if(text.text.size() > large_body, [&] { return webhooks::parse_unverified_shared(text); });
  return make_event(std::move(event), std::move(kept));
}

py::object webhook_sign(PyObject* /*module*/, const Call& call) {
  const auto [body, secret] = parsed<docs::sign_signature>().bind<2>(call);
  const Buffer buffer(body);
  const Secrets secrets(secret, "secret");
  if (secrets.texts().size() != 1)
    refuse("secret: exactly one is needed to sign, not " + std::to_string(secrets.texts().size()));
  return py::str(without_gil_if(buffer.text().size() > large_body,
                                [&] { return webhooks::sign(buffer.text(), secrets.texts().front()); }));
}

// Explains an invalid argument in the returned text instead of raising an error.
py::object webhook_explain(PyObject* /*module*/, const Call& call) {
  const auto [body, signature, secret, headers] = parsed<docs::explain_signature>().bind<4>(call);
  try {
    const auto fields = given(headers) ? header_fields(headers) : HeaderList();
    const Buffer buffer(body);
    const Secrets secrets(secret, "secret");
    const auto header = signature_of(signature);
    const std::vector<std::pair<std::string_view, std::string_view>> views(fields.begin(), fields.end());
    return py::str(
        without_gil_if(true, [&] { return webhooks::explain(buffer.text(), header, secrets.texts(), views); }));
  } catch (const Error& error) {
    return py::str(error.message() + "\n(explain() is for debugging: it does not belong in a request path.)");
  }
}

void bind_functions(py::module_& module) {
  constexpr const char* home = "billcore.webhooks";
  def_function(module, parsed<docs::verify_signature>(), fast_call<webhook_verify>, docs::verify, home);
  def_function(module, parsed<docs::unwrap_signature>(), fast_call<webhook_unwrap>, docs::unwrap, home);
  def_function(module, parsed<docs::parse_unverified_signature>(), fast_call<webhook_parse_unverified>,
               docs::parse_unverified, home);
  def_function(module, parsed<docs::sign_signature>(), fast_call<webhook_sign>, docs::sign, home);
  def_function(module, parsed<docs::explain_signature>(), fast_call<webhook_explain>, docs::explain, home);
  def_function(module, parsed<docs::format_amount_signature>(), fast_call<webhook_format_amount>, docs::format_amount,
               "billcore");
}

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "gcc " __VERSION__;
#endif
#if defined(BILLCORE_BUNDLE)
constexpr bool self_contained = true;
#else
constexpr bool self_contained = false;
#endif

PyObject* make_plain(const Value& value) noexcept {
  return guarded<PyObject*>(nullptr, [&] { return plain(value).release().ptr(); });
}

}  // namespace
}  // namespace billcore::python

// pybind11's module initialisation hangs in a subinterpreter; PyInit__webhook() below refuses subinterpreters first.
PYBIND11_MODULE(webhook_in_main_interpreter, module) {
  using namespace billcore::python;
  py::options options;
  options.disable_function_signatures();
  module.doc() = "Signatures, events and typed resources. Import billcore and billcore.webhooks instead.";
  module.attr("__version__") = BILLCORE_VERSION;
  const auto openssl = billcore::detail::linked_crypto();
  const auto yyjson = billcore::detail::linked_json();
  module.attr("_build") = py::make_tuple(BILLCORE_BUILD_ID, compiler, self_contained);
  module.attr("_libraries") = py::make_tuple(
      py::make_tuple(openssl.name, openssl.version), py::make_tuple(yyjson.name, yyjson.version),
      py::make_tuple("pybind11", PYBIND11_TOSTRING(PYBIND11_VERSION_MAJOR) "." PYBIND11_TOSTRING(
                                     PYBIND11_VERSION_MINOR) "." PYBIND11_TOSTRING(PYBIND11_VERSION_PATCH)));
  guard_base();
  find_errors();
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const billcore::Error& error) {
      set_error(error);
    } catch (...) {  // translate a standard exception here: its C++ type may differ in `_client`
      py::detail::translate_exception(std::current_exception());
    }
  });

  bind_model(module);
  bind_event(module);
  bind_response_info(module);
  bind_verifier(module);
  bind_functions(module);
  guard_types(module, 0);

  py::dict codes;
  for (const auto& row : billcore::error_code_table) {
    codes[row.name] = py::make_tuple(static_cast<int>(row.code), row.python_class);
  }
  module.attr("_error_codes") = codes;

  static const Bridge bridge{BILLCORE_BUILD_ID, make_view, make_plain, make_response_info, set_error};
  module.attr("_bridge") = py::capsule(&bridge, bridge_name);
}

// Python calls PyInit__webhook() on import. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" PYBIND11_EXPORT PyObject* PyInit__webhook() {
  return billcore::python::enter_interpreter() ? PyInit_webhook_in_main_interpreter() : nullptr;
}
