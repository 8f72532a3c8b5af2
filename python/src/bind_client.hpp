// What the files of `_client` share.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "billcore/client.hpp"
#include "bridge.hpp"

namespace billcore::python {

/// The functions of `_webhook`.
[[nodiscard]] const Bridge& bridge() noexcept;

/// A new view object.
[[nodiscard]] inline py::object view(View type, const Value& value) {
  auto* out = bridge().make_view(type, value);
  if (out == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(out);
}

/// The ResponseInfo of an answer.
[[nodiscard]] inline py::object response_info(const std::shared_ptr<const ResponseInfo>& info) {
  auto* out = bridge().make_response_info(info);
  if (out == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(out);
}

/// Runs `f` while other Python threads run.
template <typename F>
auto without_gil(F&& f) {
  const py::gil_scoped_release release;
  return std::forward<F>(f)();
}

/// The argument `timeout` of a call: left out, the client's; None, no deadline.
[[nodiscard]] CallOptions call_options(py::handle timeout);
/// Seconds as the core counts them: rounded up, so that more than nothing stays more than nothing.
[[nodiscard]] std::chrono::milliseconds milliseconds(py::handle seconds);

[[nodiscard]] py::object make_response(Response response);

void bind_operations(py::module_& module);
void bind_pager(py::module_& module);

[[nodiscard]] py::object make_pager(Pager<Subscription> pager);
[[nodiscard]] py::object make_pager(Pager<Order> pager);
[[nodiscard]] py::object make_pager(Pager<Product> pager);

}  // namespace billcore::python
