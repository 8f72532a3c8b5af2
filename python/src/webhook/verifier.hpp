// The Python classes that check signatures, Verifier and VerifyStream, and their result, Verified.
#pragma once

#include <pybind11/pybind11.h>

#include "billcore/webhook.hpp"
#include "shared/interpreter.hpp"

namespace billcore::python {

void bind_verifier(pybind11::module_& module);

/// Checks a body (any buffer) and returns a Verified.
[[nodiscard]] pybind11::object verify(const Verifier& verifier, pybind11::handle body, pybind11::handle signature);
/// Checks and parses a body and returns an Event.
[[nodiscard]] pybind11::object unwrap(const Verifier& verifier, pybind11::handle body,
                                      std::optional<std::string_view> signature);

// Functions release the GIL only for more than this many bytes: hashing fewer bytes is faster than taking the GIL
// again.
inline constexpr std::size_t large_body = std::size_t{64} << 10U;

template <typename F>
auto without_gil_if(bool large, F&& f) {
  std::optional<NoGil> released;
  if (large) released.emplace();
  return f();
}

}  // namespace billcore::python
