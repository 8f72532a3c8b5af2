// The one place where errors of the core become Python exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <new>

#include "billcore/error.hpp"

namespace billcore::python {

/// For the start of `_webhook`: a finalizing interpreter refuses imports, so the exceptions are found before one is raised.
void find_errors();
/// Sets the Python error for an error of the core. `_client` reaches it through the bridge.
void set_error(const Error& error) noexcept;

/// Runs `f`; whatever it throws becomes the Python error and `failed` the result. For functions that Python calls directly.
template <typename Result, typename F>
Result guarded(Result failed, F&& f) noexcept {
  try {
    return f();
  } catch (pybind11::error_already_set& error) {
    error.restore();
  } catch (const Error& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

}  // namespace billcore::python
