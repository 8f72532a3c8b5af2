// The interpreter that the module runs in: its main thread, its GIL and its end.
//
// A thread that asks a finalizing interpreter for the GIL is ended by Python 3.13 and older with pthread_exit(), whose
// unwinding must not meet a destructor or another noexcept frame. So such a thread parks for ever, as in Python 3.14; see
// interpreter_calls.cpp, which every call into Python passes, those of pybind11 included.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <utility>

namespace billcore::python {

namespace py = pybind11;

/// Py_FinalizeEx() has begun, or has ended. Any thread, with or without the GIL.
[[nodiscard]] bool is_finalizing() noexcept;
/// This is the thread that Python runs signal handlers on, and that finalizes the interpreter. With or without the GIL.
[[nodiscard]] bool on_main_thread() noexcept;
/// This thread holds the GIL.
[[nodiscard]] bool has_gil() noexcept;
/// Waits until the process ends.
[[noreturn]] void park() noexcept;

/// For the start of a module. False with ImportError set in a subinterpreter: the types of pybind11 belong to the main one.
[[nodiscard]] bool enter_interpreter() noexcept;

/// This thread runs the core without the GIL. The process does not exit while another thread does: libcurl and OpenSSL free
/// what it uses. Such a thread parks when it next asks for the GIL or calls park_if_finalizing().
class Outside {
 public:
  Outside() noexcept;
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
};

/// For a thread that is outside for long: at least every 50 ms.
void park_if_finalizing() noexcept;

/// Holds the GIL; nests. Parks when the interpreter finalizes.
class Gil {
 public:
  Gil();
  ~Gil();
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
  int outside_;  // how often, until this Gil
};

/// Releases the GIL and takes it again. Parks in place of the latter when the interpreter finalizes.
class NoGil {
 public:
  NoGil() : state_(PyEval_SaveThread()) {}
  ~NoGil() {
    outside_.reset();
    PyEval_RestoreThread(state_);
  }
  NoGil(const NoGil&) = delete;
  NoGil& operator=(const NoGil&) = delete;

 private:
  PyThreadState* state_;
  std::optional<Outside> outside_{std::in_place};
};

/// Runs `f` while other Python threads run.
template <typename F>
auto without_gil(F&& f) {
  const NoGil released;
  return std::forward<F>(f)();
}

/// Drops references from a destructor, with or without the GIL. While the interpreter finalizes, a thread that does not
/// hold the GIL leaks them: whoever waits for that thread would wait for ever.
template <typename... Objects>
void drop(Objects&... objects) noexcept {
  if (!has_gil() && is_finalizing() && !on_main_thread()) {
    (static_cast<void>(objects.release()), ...);
    return;
  }
  const Gil gil;
  ((objects = Objects()), ...);
}

/// A Python object that is found on first use and then kept for the life of the process. No lock is held while it is
/// looked up: imports release the GIL and take locks of their own. Threads that look it up at once find the same object.
class Found {
 public:
  [[nodiscard]] bool is_known() const noexcept { return object_.load(std::memory_order_acquire) != nullptr; }
  template <typename Find>
  [[nodiscard]] py::handle get(Find&& find) {
    if (auto* known = object_.load(std::memory_order_acquire)) return known;
    py::object fresh = std::forward<Find>(find)();
    PyObject* known = nullptr;
    if (object_.compare_exchange_strong(known, fresh.ptr(), std::memory_order_acq_rel)) return fresh.release();
    return known;
  }

 private:
  std::atomic<PyObject*> object_{nullptr};
};

}  // namespace billcore::python
