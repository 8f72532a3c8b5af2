// The interpreter that the module runs in: its main thread, its GIL and its finalization.
//
// A thread that requests the GIL from a finalizing interpreter parks: see finalization.hpp.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <optional>
#include <utility>

#include "shared/finalization.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Call enter_interpreter() when Python imports a module of billcore. In a subinterpreter, sets ImportError and returns
/// false, because pybind11's types belong to the main interpreter. Does so too if a free-threaded interpreter may not
/// turn the GIL on, because the GIL protects the modules' caches.
[[nodiscard]] bool enter_interpreter() noexcept;

/// A thread has an Outside while it runs core code without the GIL. An exiting process waits up to 2 s for threads
/// that have an Outside, because the exit handlers of libcurl and OpenSSL free memory that these threads use. While the
/// process waits, each thread that has an Outside parks when it next requests the GIL or calls park_if_finalizing().
class Outside {
 public:
  Outside() noexcept;
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
};

/// Holds the GIL until it is destroyed; may be nested. The constructor parks if the interpreter is finalizing.
class Gil {
 public:
  Gil();
  ~Gil();
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
  int outside_;  // nesting depth of the thread's Outside objects, which the destructor restores
};

/// Releases the GIL and takes it again in the destructor, which parks instead if the interpreter is finalizing.
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

/// Runs `f` without the GIL, so that other Python threads can run.
template <typename F>
auto without_gil(F&& f) {
  const NoGil released;
  return std::forward<F>(f)();
}

/// Drops references from a destructor, with or without the GIL. While the interpreter finalizes, a thread without the
/// GIL leaks the references: requesting the GIL would park the thread, and a thread that joins the parked thread would
/// wait forever.
template <typename... Objects>
void drop(Objects&... objects) noexcept {
  if (!has_gil() && is_finalizing() && !on_main_thread()) {
    (static_cast<void>(objects.release()), ...);
    return;
  }
  const Gil gil;
  ((objects = Objects()), ...);
}

/// A Python object that is looked up on first use and then kept until the process ends. get() holds no lock during
/// the lookup, because imports release the GIL and take locks of their own. Concurrent calls of get() return the same
/// object.
class CachedImport {
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
