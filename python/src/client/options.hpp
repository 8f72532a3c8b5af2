// The options of clients and calls, from the arguments of Python.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "billcore/options.hpp"
#include "call/sender.hpp"

namespace billcore::python {

/// The argument `timeout` of a call: left out, the client's; None, no deadline.
[[nodiscard]] CallOptions call_options(py::handle timeout);
/// Seconds as the core counts them: rounded up, so that more than nothing stays more than nothing.
[[nodiscard]] std::chrono::milliseconds milliseconds(py::handle seconds);

using Pairs = std::vector<std::pair<std::string, std::string>>;
/// The argument `query` of a request: a mapping or pairs of str, each value a str or an int.
[[nodiscard]] Pairs query_pairs(py::handle value);
/// A mapping or pairs of str.
[[nodiscard]] Pairs header_pairs(py::handle value, const char* name);
/// The path of a file: str, bytes or an object with __fspath__.
[[nodiscard]] std::string path_text(py::handle value, const char* name);
/// An integer; those that do not fit become the nearest that does.
[[nodiscard]] int count(py::handle value, const char* name);

/// A client; `values` are those of arguments::CreateClient.
[[nodiscard]] Sender make_sender(std::span<const py::handle> values, std::shared_ptr<Waiter> waiter);
/// A client over the same connections; `values` are those of arguments::ChangeOptions.
[[nodiscard]] Sender changed_sender(const Sender& sender, std::span<const py::handle> values);

}  // namespace billcore::python
