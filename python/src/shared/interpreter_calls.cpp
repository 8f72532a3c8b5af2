// The gate to Python, which prevents an abort at exit. Once a thread finalizes the interpreter, Python 3.13 and older
// may end another thread by pthread_exit(), in any function that runs Python code or takes the GIL. The unwinding would
// reach C++ destructors, which touch Python objects without the GIL, and noexcept functions, which abort the process.
// So the linker (--wrap, see CMakeLists.txt) redirects each call of the functions listed below, also those by the
// headers of Python and pybind11, to a wrapper that stops the unwinding and parks the thread, as Python 3.14 does.
// pthread_exit() unwinds with libc's libgcc_s.so.1, which cannot use the C++ run-time library linked into a wheel. So
// the gate is not a destructor: its frames have a personality routine of their own, and this file is compiled without
// exceptions, so that the compiler adds no other. tests/layering/test_interpreter_calls.py fails if the modules call a
// function of Python that is neither in this file nor in the test's list of functions that need no gate.
#include <Python.h>

#include <cstdarg>
#include <cstdint>
#include <type_traits>

#include "shared/finalization.hpp"

/// The unwinder calls this function for each frame of a gate. If a thread's stack is unwound through a gate, the
/// function parks the thread: the thread has called pthread_exit(), because Python's C functions do not throw.
extern "C" int billcore_gate_personality(int /*version*/, int actions, std::uint64_t /*exception_class*/,
                                         void* /*exception*/, void* /*context*/) noexcept {
  constexpr int force_unwind = 8;     // _UA_FORCE_UNWIND
  constexpr int continue_unwind = 8;  // _URC_CONTINUE_UNWIND
  if ((actions & force_unwind) != 0) billcore::python::park();
  return continue_unwind;
}

namespace billcore::python {
namespace {

// Encoding 0x1b: the address of the personality routine, as a 32-bit offset relative to this place.
#define BILLCORE_GATE() asm volatile(".cfi_personality 0x1b, billcore_gate_personality")

template <typename Call>
auto gated(Call&& call) {
  BILLCORE_GATE();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    asm volatile("");  // prevents a tail call, which would remove this frame
  } else {
    auto out = call();
    asm volatile("");
    return out;
  }
}

/// Like gated(), for functions that take the GIL. Parks before the call if the interpreter is finalizing, because the
/// interpreter may already have freed data that the called function reads.
template <typename Call>
auto entered(Call&& call) {
  if (!has_gil()) park_if_finalizing();
  return gated(call);
}

}  // namespace
}  // namespace billcore::python

// NOLINTBEGIN(bugprone-macro-parentheses): lists of parameters and of arguments
#define BILLCORE_CALL(how, name, result, parameters, arguments)                   \
  extern "C" decltype(name) billcore_real_##name asm("__real_" #name);            \
  extern "C" result billcore_##name parameters asm("__wrap_" #name);              \
  result billcore_##name parameters {                                             \
    return billcore::python::how([&] { return billcore_real_##name arguments; }); \
  }
// NOLINTEND(bugprone-macro-parentheses)
#define GATED(name, result, parameters, arguments) BILLCORE_CALL(gated, name, result, parameters, arguments)
#define ENTERED(name, result, parameters, arguments) BILLCORE_CALL(entered, name, result, parameters, arguments)

// clang-format off
ENTERED(PyEval_AcquireThread, void, (PyThreadState* a), (a))
ENTERED(PyEval_RestoreThread, void, (PyThreadState* a), (a))
ENTERED(PyGILState_Ensure, PyGILState_STATE, (), ())

GATED(PyBuffer_Release, void, (Py_buffer* a), (a))
GATED(PyCMethod_New, PyObject*, (PyMethodDef* a, PyObject* b, PyObject* c, PyTypeObject* d), (a, b, c, d))
GATED(PyCapsule_Import, void*, (const char* a, int b), (a, b))
GATED(PyClassMethod_New, PyObject*, (PyObject* a), (a))
GATED(PyContext_CopyCurrent, PyObject*, (), ())
GATED(PyDescr_NewMethod, PyObject*, (PyTypeObject* a, PyMethodDef* b), (a, b))
GATED(PyDict_Contains, int, (PyObject* a, PyObject* b), (a, b))
GATED(PyDict_GetItemString, PyObject*, (PyObject* a, const char* b), (a, b))
GATED(PyDict_GetItemWithError, PyObject*, (PyObject* a, PyObject* b), (a, b))
GATED(PyDict_New, PyObject*, (), ())
GATED(PyDict_SetDefault, PyObject*, (PyObject* a, PyObject* b, PyObject* c), (a, b, c))
GATED(PyDict_SetItem, int, (PyObject* a, PyObject* b, PyObject* c), (a, b, c))
GATED(PyErr_CheckSignals, int, (), ())
GATED(PyErr_Clear, void, (), ())
GATED(PyErr_Fetch, void, (PyObject** a, PyObject** b, PyObject** c), (a, b, c))
GATED(PyErr_NormalizeException, void, (PyObject** a, PyObject** b, PyObject** c), (a, b, c))
GATED(PyErr_Restore, void, (PyObject* a, PyObject* b, PyObject* c), (a, b, c))
GATED(PyErr_SetNone, void, (PyObject* a), (a))
GATED(PyErr_SetObject, void, (PyObject* a, PyObject* b), (a, b))
GATED(PyErr_SetString, void, (PyObject* a, const char* b), (a, b))
GATED(PyErr_WarnEx, int, (PyObject* a, const char* b, Py_ssize_t c), (a, b, c))
GATED(PyErr_WriteUnraisable, void, (PyObject* a), (a))
GATED(PyException_SetCause, void, (PyObject* a, PyObject* b), (a, b))
GATED(PyException_SetContext, void, (PyObject* a, PyObject* b), (a, b))
GATED(PyException_SetTraceback, int, (PyObject* a, PyObject* b), (a, b))
GATED(PyFloat_AsDouble, double, (PyObject* a), (a))
GATED(PyFrame_GetBack, PyFrameObject*, (PyFrameObject* a), (a))
GATED(PyGILState_Release, void, (PyGILState_STATE a), (a))
GATED(PyImport_ImportModule, PyObject*, (const char* a), (a))
GATED(PyInstanceMethod_New, PyObject*, (PyObject* a), (a))
GATED(PyIter_Next, PyObject*, (PyObject* a), (a))
GATED(PyIter_Send, PySendResult, (PyObject* a, PyObject* b, PyObject** c), (a, b, c))
GATED(PyList_Append, int, (PyObject* a, PyObject* b), (a, b))
GATED(PyList_AsTuple, PyObject*, (PyObject* a), (a))
GATED(PyList_New, PyObject*, (Py_ssize_t a), (a))
GATED(PyLong_AsLongLongAndOverflow, long long, (PyObject* a, int* b), (a, b))  // NOLINT(google-runtime-int)
GATED(PyModule_AddObject, int, (PyObject* a, const char* b, PyObject* c), (a, b, c))
GATED(PyModule_NewObject, PyObject*, (PyObject* a), (a))
GATED(PyNumber_Add, PyObject*, (PyObject* a, PyObject* b), (a, b))
GATED(PyNumber_Index, PyObject*, (PyObject* a), (a))
GATED(PyNumber_ToBase, PyObject*, (PyObject* a, int b), (a, b))
GATED(PyObject_CallFinalizerFromDealloc, int, (PyObject* a), (a))
GATED(PyObject_CallOneArg, PyObject*, (PyObject* a, PyObject* b), (a, b))
GATED(PyObject_ClearWeakRefs, void, (PyObject* a), (a))
GATED(PyObject_GenericGetDict, PyObject*, (PyObject* a, void* b), (a, b))
GATED(PyObject_GenericSetDict, int, (PyObject* a, PyObject* b, void* c), (a, b, c))
GATED(PyObject_GetAttr, PyObject*, (PyObject* a, PyObject* b), (a, b))
GATED(PyObject_GetAttrString, PyObject*, (PyObject* a, const char* b), (a, b))
GATED(PyObject_GetBuffer, int, (PyObject* a, Py_buffer* b, int c), (a, b, c))
GATED(PyObject_GetItem, PyObject*, (PyObject* a, PyObject* b), (a, b))
GATED(PyObject_GetIter, PyObject*, (PyObject* a), (a))
GATED(PyObject_HasAttr, int, (PyObject* a, PyObject* b), (a, b))
GATED(PyObject_HasAttrString, int, (PyObject* a, const char* b), (a, b))
GATED(PyObject_IsInstance, int, (PyObject* a, PyObject* b), (a, b))
GATED(PyObject_Repr, PyObject*, (PyObject* a), (a))
GATED(PyObject_RichCompare, PyObject*, (PyObject* a, PyObject* b, int c), (a, b, c))
GATED(PyObject_SetAttr, int, (PyObject* a, PyObject* b, PyObject* c), (a, b, c))
GATED(PyObject_SetAttrString, int, (PyObject* a, const char* b, PyObject* c), (a, b, c))
GATED(PyObject_SetItem, int, (PyObject* a, PyObject* b, PyObject* c), (a, b, c))
GATED(PyObject_Size, Py_ssize_t, (PyObject* a), (a))
GATED(PyObject_Str, PyObject*, (PyObject* a), (a))
GATED(PyObject_Vectorcall, PyObject*, (PyObject* a, PyObject* const* b, size_t c, PyObject* d), (a, b, c, d))
GATED(PyObject_VectorcallMethod, PyObject*, (PyObject* a, PyObject* const* b, size_t c, PyObject* d), (a, b, c, d))
GATED(PySequence_GetItem, PyObject*, (PyObject* a, Py_ssize_t b), (a, b))
GATED(PySequence_Size, Py_ssize_t, (PyObject* a), (a))
GATED(PySequence_Tuple, PyObject*, (PyObject* a), (a))
GATED(PySet_Add, int, (PyObject* a, PyObject* b), (a, b))
GATED(PySet_Discard, int, (PyObject* a, PyObject* b), (a, b))
GATED(PySet_New, PyObject*, (PyObject* a), (a))
GATED(PySlice_New, PyObject*, (PyObject* a, PyObject* b, PyObject* c), (a, b, c))
GATED(PyStaticMethod_New, PyObject*, (PyObject* a), (a))
GATED(PyStructSequence_New, PyObject*, (PyTypeObject * a), (a))
GATED(PyThreadState_Clear, void, (PyThreadState* a), (a))
GATED(PyTuple_New, PyObject*, (Py_ssize_t a), (a))
GATED(PyType_FromSpec, PyObject*, (PyType_Spec* a), (a))
GATED(PyType_FromSpecWithBases, PyObject*, (PyType_Spec* a, PyObject* b), (a, b))
GATED(PyType_Ready, int, (PyTypeObject* a), (a))
GATED(PyUnicode_AsEncodedString, PyObject*, (PyObject* a, const char* b, const char* c), (a, b, c))
GATED(PyUnicode_FSConverter, int, (PyObject* a, void* b), (a, b))
GATED(PyWeakref_NewRef, PyObject*, (PyObject* a, PyObject* b), (a, b))
GATED(_PyObject_GC_New, PyObject*, (PyTypeObject* a), (a))
GATED(_Py_Dealloc, void, (PyObject* a), (a))
#if PY_VERSION_HEX >= 0x030C0000
GATED(PyErr_GetRaisedException, PyObject*, (), ())
GATED(PyErr_SetRaisedException, void, (PyObject* a), (a))
#endif
// clang-format on

// PyErr_Format is variadic, so its wrapper calls the va_list variant PyErr_FormatV.
extern "C" PyObject* billcore_PyErr_Format(PyObject* a, const char* b, ...) asm("__wrap_PyErr_Format");
PyObject* billcore_PyErr_Format(PyObject* a, const char* b, ...) {
  std::va_list arguments;
  va_start(arguments, b);
  auto* const out = billcore::python::gated([&] { return PyErr_FormatV(a, b, arguments); });
  va_end(arguments);
  return out;
}
