// The only place where core errors become Python exceptions.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <new>

#include "billcore/error.hpp"

namespace billcore::python {

/// Called when Python imports `_webhook`: imports the function that creates exceptions, because a finalizing
/// interpreter refuses imports.
void find_errors();
/// The name of the exception class for an error code.
[[nodiscard]] inline const char* class_of(ErrorCode code) noexcept {
  for (const auto& row : error_code_table) {
    if (row.code == code) return row.python_class;
  }
  return "BillcoreError";
}

/// Sets the Python error for a core error. `_client` calls this function through the Bridge.
void set_error(const Error& error) noexcept;

/// Runs `f` and returns its result. If `f` throws, sets the Python error and returns `failed`. Call guarded() in
/// functions that Python calls directly.
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
