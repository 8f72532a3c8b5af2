// Reads the options of clients and calls from Python arguments.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "billcore/options.hpp"
#include "call/bound_client.hpp"

namespace billcore::python {

/// Converts the argument `timeout` of a call. An omitted `timeout` means the client's time-out; None means no
/// deadline.
[[nodiscard]] CallOptions call_options(py::handle timeout, py::handle total_timeout = {});
/// Converts seconds to milliseconds; rounds up, so that a tiny time-out does not become 0.
[[nodiscard]] std::chrono::milliseconds milliseconds(py::handle seconds, const std::string& name = "timeout");

using Pairs = std::vector<std::pair<std::string, std::string>>;
/// Converts the argument `query` of a request: a mapping or pairs; each name is a str, each value a str or an int.
[[nodiscard]] Pairs query_pairs(py::handle value);
/// Reads headers from a mapping of str to str, or from pairs of str.
[[nodiscard]] Pairs header_pairs(py::handle value, const char* name);
/// Converts the path of a file: str, bytes or an object with __fspath__.
[[nodiscard]] std::string path_text(py::handle value, const char* name);
/// Converts an integer, clamped to the range from -1 to the largest int.
[[nodiscard]] int count(py::handle value, const char* name);

/// Creates a client; `values` are the arguments in the order of arguments::CreateClient.
[[nodiscard]] BoundClient bind_client(std::span<const py::handle> values, std::shared_ptr<Loops> loops);
/// Creates a client that shares the connections of `bound`; `values` are the arguments in the order of
/// arguments::ChangeOptions.
[[nodiscard]] BoundClient changed_sender(const BoundClient& bound, std::span<const py::handle> values);

}  // namespace billcore::python
