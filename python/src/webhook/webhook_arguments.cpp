#include "webhook/webhook_arguments.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "shared/arguments.hpp"
#include "shared/interpreter.hpp"
#include "shared/objects.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

/// Returns the text of a header, which is a str or bytes; nullopt for another type. For a str that UTF-8 cannot
/// encode, returns "?", which is never a valid signature.
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

std::string_view secret_of(py::handle secret) {
  if (PyBytes_Check(secret.ptr())) return bytes_of(secret);
  if (!PyUnicode_Check(secret.ptr())) refuse("a secret must be a str or bytes, not " + type_name(secret));
  return utf8(secret, "a secret");
}

std::string account_text(py::handle account) {
  if (PyUnicode_Check(account.ptr())) return std::string(utf8(account, "an account"));
  if (PyLong_Check(account.ptr()) == 0 || PyBool_Check(account.ptr())) {
    refuse("an account must be an int or a str, as event.account or its text, not " + type_name(account));
  }
  // Not str(), which a subclass of int, such as an enumeration, may override.
  return std::string(utf8(checked(PyNumber_ToBase(account.ptr(), 10)), "an account"));
}

std::chrono::microseconds freshness_of(py::handle value) {
  if (const auto length = duration_of(value, "freshness")) return *length;
  refuse("freshness must be seconds, a timedelta, or None for any age, not " + type_name(value));
}

std::chrono::microseconds instant_of(py::handle now) {
  if (!is_datetime(now)) refuse("the result of clock must be seconds or an aware datetime, not " + type_name(now));
  return to_instant(now, "the result of clock").time_since_epoch();
}

std::chrono::sys_time<std::chrono::microseconds> call_clock(py::handle function) {
  const auto now = checked(PyObject_Vectorcall(function.ptr(), nullptr, 0, nullptr));
  const auto since_1970 = seconds_of(now, "the result of clock");
  return std::chrono::sys_time<std::chrono::microseconds>(since_1970 ? *since_1970 : instant_of(now));
}

py::handle time_module() {
  static constinit CachedImport found;
  return found.get([] { return py::object(py::module_::import("time")); });
}

// Looks time.time up in each call, because freezegun replaces the function.
std::chrono::sys_time<std::chrono::microseconds> default_clock() {
  const Gil gil;
  static constinit CachedImport name;
  const auto time = name.get([] { return checked(PyUnicode_InternFromString("time")); });
  return call_clock(checked(PyObject_GetAttr(time_module().ptr(), time.ptr())));
}

// Returns a clock that takes the GIL, because verifying a large body releases the GIL.
Clock clock_of(const ClockFunction& function) {
  return [function] {
    const Gil gil;
    const py::object kept = *function;  // NOLINT(performance-unnecessary-copy-initialization): *function may change
    if (!kept)
      throw Error(ErrorCode::config, "the Verifier of this check was destroyed: keep it until its checks are done");
    return call_clock(kept);
  };
}

// Returns the header's name for a WSGI environ key, such as HTTP_SERVICE_SIGNATURE in Django's request.META. Returns a
// name that does not begin with HTTP_ unchanged.
std::string header_name(std::string_view name) {
  constexpr std::string_view mark = "HTTP_";
  if (!name.starts_with(mark)) return std::string(name);
  std::string out(name.substr(mark.size()));
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

}  // namespace

ClockFunction clock_function(py::handle clock) {
  if (!given(clock)) return nullptr;
  if (PyCallable_Check(clock.ptr()) == 0) {
    refuse("clock must be a function that returns the time, such as time.time, not " + type_name(clock));
  }
  return std::make_shared<py::object>(py::reinterpret_borrow<py::object>(clock));
}

Buffer::Buffer(py::handle body, const std::string& name) {
  auto* object = body.ptr();
  if (PyUnicode_Check(object)) refuse(name + " is a str: pass the raw bytes of the request, decoding can change them");
  if (PyDict_Check(object))
    refuse(name + " is a dict: pass the raw bytes of the request, parsing loses what was signed");
  if (body.is_none()) refuse(name + " is None: pass the raw bytes of the request (b'' when there are none)");
  if (PyObject_CheckBuffer(object) == 0) refuse(name + " must be bytes or another buffer, not " + type_name(body));
  if (PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    refuse(name + " is a buffer that is not contiguous: pass bytes(" + name + ")");
  }
}

std::optional<std::string_view> signature_of(py::handle signature) {
  if (signature.is_none()) return std::nullopt;
  const auto value = header_value(signature);
  if (!value) refuse("signature must be a str, bytes, or None when the header is missing, not " + type_name(signature));
  return value;
}

Secrets::Secrets(py::handle secrets, const char* name) {
  if (PyBytes_Check(secrets.ptr()) || PyUnicode_Check(secrets.ptr())) {
    texts_.push_back(secret_of(secrets));
    return;
  }
  if (PySequence_Check(secrets.ptr()) == 0 || PyObject_CheckBuffer(secrets.ptr()) != 0) {
    refuse(std::string(name) + " must be a str, bytes, or a sequence of them, not " + type_name(secrets));
  }
  items_ = py::tuple(py::reinterpret_borrow<py::object>(secrets));
  for (const auto item : items_) texts_.push_back(secret_of(item));
}

AccountsArgument::AccountsArgument(py::handle accounts) {
  items_ = members_of(accounts, "accounts must be a mapping of accounts to their secrets");
  for (const auto item : items_) {
    const auto [account, secrets] = py::cast<std::pair<py::object, py::object>>(item);
    accounts_.emplace_back(account_text(account), Secrets(secrets, "the secrets of an account"));
  }
}

std::vector<AccountSecrets> AccountsArgument::accounts() const {
  std::vector<AccountSecrets> out;
  out.reserve(accounts_.size());
  for (const auto& [account, secrets] : accounts_) out.push_back({account, secrets.texts()});
  return out;
}

VerifierOptions verifier_options(py::handle header, py::handle max_body, py::handle freshness,
                                 const ClockFunction& clock) {
  VerifierOptions options;
  if (!left_out(header)) options.header = utf8(header, "header");
  if (!left_out(max_body)) options.max_body = size(max_body, "max_body");
  if (given(freshness)) options.freshness = freshness_of(freshness);
  if (clock != nullptr) {
    options.clock = clock_of(clock);
  } else if (options.freshness) {
    static_cast<void>(time_module());  // imports it now: a finalizing interpreter refuses imports
    options.clock = default_clock;
  }
  return options;
}

HeaderList header_fields(py::handle headers, const OddHeader& odd) {
  HeaderList fields;
  const auto add = [&](std::string_view name, py::handle value) {
    if (const auto text = header_value(value)) {
      fields.emplace_back(header_name(name), *text);
    } else if (!value.is_none() && odd != nullptr) {
      odd(header_name(name), value);
    }
  };
  each_pair(headers, "headers", [&](py::handle key, py::handle value) {
    const auto name = header_value(key);
    if (!name) refuse("headers: a name must be str or bytes, not " + type_name(key));
    if (PyTuple_Check(value.ptr()) || PyList_Check(value.ptr())) {
      for (const auto one : value) add(*name, one);
    } else {
      add(*name, value);
    }
  });
  return fields;
}

std::optional<std::string> find_signature(const Verifier& verifier, py::handle headers) {
  const auto fields = header_fields(headers, [&](const std::string& name, py::handle value) {
    // Frameworks may store values of other types among the headers; only the signature header must be str or bytes.
    const std::pair<std::string_view, std::string_view> only{name, ""};
    if (verifier.find_signature({&only, 1})) {
      refuse("headers: the value of the signature header must be str or bytes, not " + type_name(value));
    }
  });
  const std::vector<std::pair<std::string_view, std::string_view>> views(fields.begin(), fields.end());
  return verifier.find_signature(views);
}

}  // namespace billcore::python
