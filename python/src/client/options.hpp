// The options of clients and calls, from the arguments of Python.
#pragma once

#include <chrono>
#include <memory>
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

#define BILLCORE_CLIENT_PARAMETERS                                                                                   \
  "*, base_url=None, api_key=None, timeout=30.0, max_retries=2, concurrency=8, proxy=None, ca_bundle=None, "         \
  "client_certificate=None, headers=None, http2=None, allow_insecure_http=False, request_id_header='X-Request-Id', " \
  "max_response=67108864, hooks=None)"
#define BILLCORE_CHANGE_PARAMETERS "*, timeout=..., max_retries=..., concurrency=..., headers=...)"
#define BILLCORE_REQUEST_PARAMETERS "method, path, *, query=None, json=..., raise_on_error=True, timeout=...)"

/// A client from the values of BILLCORE_CLIENT_PARAMETERS.
[[nodiscard]] Sender make_sender(const std::vector<py::handle>& values, std::shared_ptr<Waiter> waiter);
/// One over the same connections, from those of BILLCORE_CHANGE_PARAMETERS.
[[nodiscard]] Sender changed_sender(const Sender& sender, const std::vector<py::handle>& values);

using Pairs = std::vector<std::pair<std::string, std::string>>;
/// The argument `query` of a request: a mapping or pairs of str, each value a str or an int.
[[nodiscard]] Pairs query_pairs(py::handle value);

}  // namespace billcore::python
