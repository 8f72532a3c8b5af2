// Declarations shared by the files of `_client`.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
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
#include "shared/objects.hpp"

namespace billcore::python {

class Job;
class Loops;  // asyncio/loops.hpp

/// Returns the table of functions that find_bridge() got from `_webhook`.
[[nodiscard]] const Bridge& bridge() noexcept;

/// Creates the Python object of a resource.
[[nodiscard]] inline py::object view(View type, const Value& value) { return checked(bridge().make_view(type, value)); }

/// Creates the Python object ResponseInfo of an answer.
[[nodiscard]] inline py::object response_info(const std::shared_ptr<const ResponseInfo>& info) {
  return checked(bridge().make_response_info(info));
}

/// A client with its Python hooks and event loops; each of its groups and lists has a copy.
struct BoundClient {
  Client client;
  HooksOption hooks;
  std::shared_ptr<Loops> loops;                     // event loops of an AsyncClient; null for a Client
  std::map<std::string, std::string> changed = {};  // options changed by with_options(), for repr()

  [[nodiscard]] bool is_awaited() const noexcept { return loops != nullptr; }

  /// Visits the hooks for the garbage collector.
  int traverse(visitproc visit, void* arg) const { return hooks.traverse(visit, arg); }
  void clear() noexcept { hooks = HooksOption(); }
};

/// Runs the job in the calling thread and returns its result. See also run() in asyncio/awaitable.hpp.
[[nodiscard]] py::object block(const BoundClient& bound, Job& job);
/// Imports `_webhook` and gets its table of functions; raises ImportError if `_webhook` is from another build.
void find_bridge();

}  // namespace billcore::python
