// Reads the arguments of verify(), unwrap() and related functions.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/webhook.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Borrows the bytes of a buffer. Error(invalid_argument), with the reason, for anything that is not a buffer of bytes.
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

/// The value of a signature header, str or bytes; nullopt for None.
[[nodiscard]] std::optional<std::string_view> signature_of(py::handle signature);

/// One secret or a sequence of them. The texts are borrowed from the Python objects. `name` is the argument's name, for
/// errors.
class Secrets {
 public:
  Secrets(py::handle secrets, const char* name);
  [[nodiscard]] const std::vector<std::string_view>& texts() const noexcept { return texts_; }

 private:
  py::object items_;
  std::vector<std::string_view> texts_;
};

/// A Python function that a Verifier calls for the time. The core's options share the function, but the garbage
/// collector cannot see them; the Verifier's Python object owns the reference and visits it.
using ClockFunction = std::shared_ptr<py::object>;
/// Returns null if `clock` is None or left out.
[[nodiscard]] ClockFunction clock_function(py::handle clock);

/// The options of a Verifier from its arguments, any of which may be omitted.
[[nodiscard]] VerifierOptions verifier_options(py::handle header, py::handle max_body, py::handle freshness,
                                               const ClockFunction& clock);

/// Finds the signature in a request's headers: a mapping (values may be lists) or pairs; names and values are str or
/// bytes.
[[nodiscard]] std::optional<std::string> find_signature(const Verifier& verifier, py::handle headers);

}  // namespace billcore::python
