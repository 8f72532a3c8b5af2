// Reads the arguments of verify(), unwrap() and related functions.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/webhook.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Borrows the bytes of a buffer. The constructor throws Error(invalid_argument), with the reason, for anything that
/// is not a buffer of bytes.
class Buffer {
 public:
  explicit Buffer(py::handle body, const std::string& name = "body");
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::string_view text() const noexcept {
    return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

[[nodiscard]] inline std::string_view bytes_of(py::handle bytes) noexcept {
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

/// Returns the value of a signature header, which must be str, bytes or None; nullopt for None.
[[nodiscard]] std::optional<std::string_view> signature_of(py::handle signature);

/// The secrets in an argument, which is one secret or a sequence of secrets. Borrows the texts from the Python
/// objects. `name` is the argument's name, for errors.
class Secrets {
 public:
  Secrets(py::handle secrets, const char* name);
  [[nodiscard]] const std::vector<std::string_view>& texts() const noexcept { return texts_; }

 private:
  py::object items_;
  std::vector<std::string_view> texts_;
};

/// The argument of Verifier.for_accounts: a mapping of accounts to their secrets. Borrows the secrets from the Python
/// objects, which it keeps alive.
class AccountsArgument {
 public:
  explicit AccountsArgument(py::handle accounts);
  [[nodiscard]] std::vector<AccountSecrets> accounts() const;

 private:
  py::object items_;
  std::vector<std::pair<std::string, Secrets>> accounts_;
};

/// A Python function that a Verifier calls to get the time. The Python object Verifier visits and clears its clock
/// function, because the garbage collector cannot visit the core's VerifierOptions, which share the function.
using ClockFunction = std::shared_ptr<py::object>;
/// Returns null if `clock` is None or left out.
[[nodiscard]] ClockFunction clock_function(py::handle clock);

/// Converts the arguments of a Verifier to its options; each argument may be omitted.
[[nodiscard]] VerifierOptions verifier_options(py::handle header, py::handle max_body, py::handle freshness,
                                               const ClockFunction& clock);

/// Header fields: names and values.
using HeaderList = std::vector<std::pair<std::string, std::string>>;
/// Called with the name of a header whose value is not a str, bytes or None.
using OddHeader = std::function<void(const std::string& name, py::handle value)>;
/// Reads a request's headers: a mapping (values may be lists) or pairs; names and values are str or bytes.
[[nodiscard]] HeaderList header_fields(py::handle headers, const OddHeader& odd = nullptr);

/// Finds the signature in a request's headers: a mapping (values may be lists) or pairs; names and values are str or
/// bytes.
[[nodiscard]] std::optional<std::string> find_signature(const Verifier& verifier, py::handle headers);

}  // namespace billcore::python
