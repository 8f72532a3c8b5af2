// The module billcore._client: the REST client.
#include <cstdlib>
#include <exception>
#include <utility>

#include "asyncio/awaitable.hpp"
#include "billcore/detail/libraries.hpp"
#include "billcore/error.hpp"
#include "call/response.hpp"
#include "client/client.hpp"
#include "client/groups.hpp"
#include "paging/pager.hpp"
#include "shared/arguments.hpp"
#include "shared/uninitialised.hpp"

// pybind11's module initialisation hangs in a subinterpreter; PyInit__client() below refuses subinterpreters first.
PYBIND11_MODULE(client_in_main_interpreter, module) {
  using namespace billcore::python;
  py::options options;
  options.disable_function_signatures();
  find_bridge();
  module.doc() = "The REST client. Import billcore instead.";
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const billcore::Error& error) {
      bridge().set_error(error);
    } catch (...) {  // translate a standard exception here: its C++ type may differ in `_webhook`
      py::detail::translate_exception(std::current_exception());
    }
  });
  // Signatures contain the default NOT_GIVEN; inspect.signature() looks the name up in the package.
  const py::handle not_given = py::object(py::module_::import("billcore._not_given").attr("NOT_GIVEN")).release();
  set_not_given(not_given);
  py::module_::import("billcore").attr("NOT_GIVEN") = not_given;
  bind_response(module);
  bind_pager(module);
  bind_operations(module);
  bind_awaitable(module);
  bind_client(module);
  bind_async_client(module);
  guard_types(module, 8 + 2 * client_groups().size());

  if (const char* const log = std::getenv("BILLCORE_LOG"); log != nullptr && *log != '\0') {
    py::module_::import("billcore._log").attr("begin")();
  }

  py::list libraries;
  for (const auto& each : billcore::detail::linked_http()) libraries.append(py::make_tuple(each.name, each.version));
  for (const auto& each : {billcore::detail::linked_compression(), billcore::detail::linked_arrow()})
    libraries.append(py::make_tuple(each.name, each.version));
  module.attr("_libraries") = py::tuple(libraries);
}

// Python calls PyInit__client() on import. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" PYBIND11_EXPORT PyObject* PyInit__client() {
  return billcore::python::enter_interpreter() ? PyInit_client_in_main_interpreter() : nullptr;
}
