// What the files of `_client` share.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "call/hooks.hpp"
#include "shared/arguments.hpp"
#include "shared/bridge.hpp"
#include "shared/collect.hpp"
#include "shared/interpreter.hpp"

namespace billcore::python {

class Job;
class Loops;

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

/// A client as its parts see it: calls wait, or (with loops) are awaited.
struct Sender {
  Client client;
  HooksOption hooks;
  std::shared_ptr<Loops> loops;

  /// For the garbage collector.
  int traverse(visitproc visit, void* arg) const { return hooks.traverse(visit, arg); }
  void clear() noexcept { hooks = HooksOption(); }
};

/// Does the job: gives its result, or something to await that does. `name` must be static.
[[nodiscard]] py::object run(const Sender& sender, std::unique_ptr<Job> job, const char* name);
/// The same when there are loops.
[[nodiscard]] py::object make_awaitable(const Sender& sender, std::shared_ptr<Job> job, const char* name);
/// The same without a client, for a job that sends nothing.
[[nodiscard]] py::object make_awaitable(std::shared_ptr<Job> job, const char* name);
/// Raises the Python error of `error`.
[[noreturn]] void raise_for(const Error& error);

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
[[nodiscard]] Sender make_sender(const std::vector<py::handle>& values, std::shared_ptr<Loops> loops);
/// One over the same connections, from those of BILLCORE_CHANGE_PARAMETERS.
[[nodiscard]] Sender changed_sender(const Sender& sender, const std::vector<py::handle>& values);
/// Client.request() with those of BILLCORE_REQUEST_PARAMETERS.
[[nodiscard]] py::object request(const Sender& sender, const std::vector<py::handle>& values);

[[nodiscard]] py::object make_response(Response response);
[[nodiscard]] py::object make_pager(const Sender& sender, View type, ListOperation list,
                                    const detail::PagerOptions& pager, CallOptions options);

void bind_async_client(py::module_& module);
void bind_awaitable(py::module_& module);
void bind_operations(py::module_& module);
void bind_pager(py::module_& module);

/// The groups of operations, of the kind that goes with the sender.
[[nodiscard]] py::object make_subscriptions(Sender sender);
[[nodiscard]] py::object make_products(Sender sender);
[[nodiscard]] py::object make_orders(Sender sender);
[[nodiscard]] py::object make_webhook_endpoints(Sender sender);

}  // namespace billcore::python
