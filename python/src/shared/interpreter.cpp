#include "shared/interpreter.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace billcore::python {
namespace {

// The main thread's PyThread_get_thread_ident(); written when the module starts, and in a forked child.
std::atomic<unsigned long> main_thread{0};  // NOLINT(google-runtime-int)

// The number of threads that have an Outside, and this thread's nesting depth of Outside (above 1 when a hook makes
// another call).
std::atomic<int> threads_outside{0};
thread_local int times_outside = 0;

int set_outside(int times) noexcept {
  const int before = std::exchange(times_outside, times);
  threads_outside += (times > 0 ? 1 : 0) - (before > 0 ? 1 : 0);
  return before;
}

// The main thread created the interpreter, so its state is the oldest, at the end of the list.
unsigned long find_main_thread() {  // NOLINT(google-runtime-int)
  auto* state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  while (auto* const older = PyThreadState_Next(state)) state = older;
  return state->thread_id;
}

void after_fork() noexcept {
  main_thread = PyThread_get_thread_ident();
  threads_outside = times_outside > 0 ? 1 : 0;
}

// Runs at the end of Py_FinalizeEx(), before the exit() handlers. Threads that have an Outside park within 50 ms; the
// limit of 2 s allows for a heavily loaded machine.
void wait_for_threads() noexcept {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + std::chrono::seconds(2);
  while (threads_outside > 0 && Clock::now() < latest) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

bool is_finalizing() noexcept {
  if (Py_IsInitialized() == 0) return true;
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

bool on_main_thread() noexcept { return PyThread_get_thread_ident() == main_thread; }

bool has_gil() noexcept {
  auto* const own = PyGILState_GetThisThreadState();
  return own != nullptr && own == py::detail::get_thread_state_unchecked();
}

void park() noexcept {
  set_outside(0);
  while (true) pause();
}

void park_if_finalizing() noexcept {
  if (is_finalizing() && !on_main_thread()) park();
}

Outside::Outside() noexcept { set_outside(times_outside + 1); }
Outside::~Outside() { set_outside(times_outside - 1); }

Gil::Gil() : state_(PyGILState_Ensure()), outside_(set_outside(0)) {}
Gil::~Gil() {
  set_outside(outside_);
  PyGILState_Release(state_);
}

bool enter_interpreter() noexcept {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(
        PyExc_ImportError,
        "billcore cannot be imported in a subinterpreter: import it in the main interpreter (with mod_wsgi, "
        "set WSGIApplicationGroup to %{GLOBAL})");
    return false;
  }
#ifdef Py_GIL_DISABLED
  // During the import of a module that needs the GIL, a free-threaded interpreter has turned it on, unless a setting
  // forbids that.
  PyObject* const probe = PySys_GetObject("_is_gil_enabled");
  const auto enabled = py::reinterpret_steal<py::object>(probe == nullptr ? nullptr : PyObject_CallNoArgs(probe));
  if (!enabled) return false;
  if (enabled.ptr() == Py_False) {
    PyErr_SetString(PyExc_ImportError,
                    "billcore needs the global interpreter lock: run Python without -X gil=0 and PYTHON_GIL=0");
    return false;
  }
#endif
  if (main_thread.exchange(find_main_thread()) != 0) return true;  // already imported
  if (Py_AtExit(&wait_for_threads) != 0 || pthread_atfork(nullptr, nullptr, &after_fork) != 0) {
    PyErr_SetString(PyExc_ImportError, "billcore cannot be imported: the process has no room for another exit handler");
    return false;
  }
  return true;
}

}  // namespace billcore::python
