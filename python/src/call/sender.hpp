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
struct Sender;

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

/// Who waits for the calls of an AsyncClient: its event loops, see asyncio/loops.hpp.
class Waiter {
 public:
  Waiter() = default;
  virtual ~Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  /// Something to await that does the job.
  [[nodiscard]] virtual py::object wait(const Sender& sender, std::shared_ptr<Job> job, const char* name) = 0;
};

/// A client as its parts see it.
struct Sender {
  Client client;
  HooksOption hooks;
  std::shared_ptr<Waiter> waiter;  // null: calls wait by themselves

  [[nodiscard]] bool is_awaited() const noexcept { return waiter != nullptr; }

  /// For the garbage collector.
  int traverse(visitproc visit, void* arg) const { return hooks.traverse(visit, arg); }
  void clear() noexcept { hooks = HooksOption(); }
};

/// Does the job: gives its result, or something to await that does. `name` must be static.
[[nodiscard]] py::object run(const Sender& sender, std::unique_ptr<Job> job, const char* name);
/// Raises the Python error of `error`.
[[noreturn]] void raise_for(const Error& error);

/// Finds `_webhook` and its functions; ImportError when it is of another build.
void find_bridge();

}  // namespace billcore::python
