// The coroutine objects that AsyncClient's methods return, implemented without Python code.
#include "asyncio/awaitable.hpp"

#include <Python.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "asyncio/loops.hpp"
#include "billcore/detail/outcome.hpp"
#include "billcore/error.hpp"
#include "shared/busy.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

enum class Phase { fresh, waiting, over };

class Awaitable {
 public:
  /// `bound` is nullopt for a job that sends no request.
  Awaitable(std::optional<BoundClient> bound, std::shared_ptr<Job> job, const char* name) noexcept
      : bound_(std::move(bound)), job_(std::move(job)), name_(name) {}
  Awaitable(py::object reader, const Shortcut& shortcut) noexcept
      : reader_(std::move(reader)), shortcut_(&shortcut), name_(shortcut.name) {}

  /// Resumes the coroutine: returns the job's result, or a future to wait for.
  PySendResult send(PyObject** out);
  /// Ends the coroutine with the Python error that is set.
  void fail() noexcept;
  /// Call this function when Python drops the coroutine: it cancels the coroutine's call. May be called from any
  /// thread.
  void detach() noexcept;
  /// Like detach(), but called for the coroutine's close(): gives no warning if the coroutine never started.
  void close() noexcept;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  /// Is send() running right now? (A hook may try to resume the coroutine whose request the hook reports.)
  [[nodiscard]] bool running() const noexcept { return running_; }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(reader_.ptr());
    Py_VISIT(waiter_.ptr());
    if (pending_ != nullptr) Py_VISIT(pending_->future.ptr());
    if (const int stop = bound_ ? bound_->traverse(visit, arg) : 0; stop != 0) return stop;
    const int own = pending_ != nullptr && pending_.use_count() == 1 && pending_->job == job_ ? 2 : 1;
    return job_ != nullptr && job_.use_count() == own ? job_->traverse(visit, arg) : 0;
  }

 private:
  // Returns the result of the shortcut, or null if the caller must wait or there is no shortcut.
  py::object take_shortcut();
  // Starts the job's next operation. Returns false if the job is done, so that there is nothing to wait for.
  bool proceed();
  // Returns the exception's note for a write that had already finished when its caller was cancelled.
  [[nodiscard]] std::string note_of_ended(const PendingCall& call) const;
  // Releases the job, and with it the exclusive use of a list: the coroutine may stay alive as long as its task.
  void finish() noexcept;

  py::object reader_;  // argument of the shortcut; empty after the shortcut was tried
  const Shortcut* shortcut_ = nullptr;
  std::optional<BoundClient> bound_;
  std::shared_ptr<Job> job_;
  const char* name_;
  Phase phase_ = Phase::fresh;
  bool running_ = false;
  std::weak_ptr<LoopEngine> engine_;  // a weak reference, because the loop owns the engine
  std::shared_ptr<PendingCall> pending_;
  py::object waiter_;  // the iterator that awaits the future
};

py::object Awaitable::take_shortcut() {
  if (!reader_) return {};
  const auto reader = std::exchange(reader_, {});
  if (auto out = shortcut_->take(reader)) return out;
  bound_ = shortcut_->bound(reader);
  job_ = shortcut_->job(reader);
  return {};
}

bool Awaitable::proceed() {
  if (!bound_) return false;
  const auto loop = running_loop();
  auto engine = engine_.lock();
  if (engine == nullptr || !engine->is_of(loop)) {
    job_->set_hooks(bound_->hooks.for_call(true));
    engine = bound_->loops->of(loop, bound_->client);
    engine_ = engine;
  }
  pending_ = job_->proceed(*engine, bound_->client, loop, job_);
  if (pending_ == nullptr) return false;
  waiter_ = pending_->future.attr("__await__")();
  return true;
}

PySendResult Awaitable::send(PyObject** out) {
  if (phase_ == Phase::over) {
    PyErr_SetString(PyExc_RuntimeError, "cannot reuse already awaited coroutine");
    throw py::error_already_set();
  }
  const Busy running(running_, "coroutine already executing");
  if (auto available = take_shortcut()) {
    *out = available.release().ptr();
    finish();
    return PYGEN_RETURN;
  }
  while (true) {
    if (phase_ == Phase::waiting) {
      const auto sent = PyIter_Send(waiter_.ptr(), Py_None, out);
      if (sent == PYGEN_NEXT) return sent;
      if (sent == PYGEN_ERROR) throw py::error_already_set();
      Py_CLEAR(*out);
      waiter_ = py::object();
      if (const auto ended = std::exchange(pending_, nullptr); ended->error) {
        std::rethrow_exception(ended->error);
      }
    }
    phase_ = Phase::waiting;
    if (!proceed()) {
      *out = job_->result().release().ptr();
      finish();
      return PYGEN_RETURN;
    }
  }
}

std::string Awaitable::note_of_ended(const PendingCall& call) const {
  if (!call.error) return job_->outcome();
  try {
    std::rethrow_exception(call.error);
  } catch (const Error& error) {
    return detail::interrupted_after_error(error);
  } catch (const std::exception&) {
    return result_is_lost;
  }
}

void Awaitable::finish() noexcept {
  phase_ = Phase::over;
  reader_ = py::object();
  waiter_ = py::object();
  job_ = nullptr;
  engine_.reset();
}

// Returns the exception's note for a call whose connections were closed together with the event loop.
std::string lost_with_its_loop(const PendingCall& call) {
  return call.write ? "abandoned with its event loop; it may or may not have happened" : "";
}

// Adds the note to `error` and, if another task passed its cancellation on to this task, also to the other task's
// CancelledError: see _awaited.py.
void add_note(const py::object& error, PendingCall& call, const std::string& note) {
  error.attr("add_note")(note);
  if (!call.write) return;
  const py::object cause = call.future.attr("cause");
  if (cause.is_none() || cause.is(error)) return;
  call.future.attr("cause") = py::none();  // breaks a cycle: the error's traceback may refer to this call
  cause.attr("add_note")(note);
}

void Awaitable::fail() noexcept {
  py::error_already_set raised;
  if (job_ != nullptr) {
    job_->release();
    job_->take_back();
  }
  if (const auto call = std::exchange(pending_, nullptr)) {
    try {
      const auto engine = engine_.lock();
      auto note = engine != nullptr ? engine->cancel(*call) : lost_with_its_loop(*call);
      if (call->ended && call->write) {
        note = note_of_ended(*call);
        log_lost(*call);
      }
      if (!note.empty()) add_note(raised.value(), *call, note);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): on failure, raise the error without the note
    }
  }
  finish();
  raised.restore();
}

void Awaitable::detach() noexcept {
  if (phase_ == Phase::fresh) {
    const std::string text = std::string("coroutine '") + name_ + "' was never awaited";
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
  }
  close();
}

void Awaitable::close() noexcept {
  if (const auto call = std::exchange(pending_, nullptr)) {
    job_->release();
    job_->take_back();
    if (call->ended && call->write) log_lost(*call);
    if (const auto engine = engine_.lock()) engine->detach(*call);
  }
  finish();
}

// ---- The Python type --------------------------------------------------------------------------------------------------------

struct AwaitableObject {
  PyObject base;
  Awaitable* own;
};

Awaitable& own(PyObject* self) noexcept { return *reinterpret_cast<AwaitableObject*>(self)->own; }

PyTypeObject* awaitable_type = nullptr;

// Raises the same error as Python's own coroutines.
bool refuse_while_running(PyObject* self) noexcept {
  if (!own(self).running()) return false;
  PyErr_SetString(PyExc_ValueError, "coroutine already executing");
  return true;
}

PySendResult send(PyObject* self, PyObject* /*value*/, PyObject** out) noexcept {
  *out = nullptr;
  if (refuse_while_running(self)) return PYGEN_ERROR;
  const auto sent = guarded(PYGEN_ERROR, [&] { return own(self).send(out); });
  if (sent == PYGEN_ERROR) own(self).fail();
  return sent;
}

// Converts a result as Python's generators do: raises StopIteration with the return value.
PyObject* as_stop_iteration(PySendResult sent, PyObject* out) noexcept {
  if (sent != PYGEN_RETURN) return out;
  if (auto* stop = PyObject_CallOneArg(PyExc_StopIteration, out)) {
    PyErr_SetObject(PyExc_StopIteration, stop);
    Py_DECREF(stop);
  }
  Py_DECREF(out);
  return nullptr;
}

PyObject* send_method(PyObject* self, PyObject* value) noexcept {
  PyObject* out = nullptr;
  const auto sent = send(self, value, &out);
  return as_stop_iteration(sent, out);
}

PyObject* next(PyObject* self) noexcept { return send_method(self, Py_None); }

// Implements throw(error), and the older form throw(type, value, traceback).
PyObject* throw_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  if (count < 1 || count > 3) {
    PyErr_SetString(PyExc_TypeError, "throw() takes one to three arguments");
    return nullptr;
  }
  if (refuse_while_running(self)) return nullptr;
  PyObject* kind = arguments[0];
  PyObject* value = count > 1 && arguments[1] != Py_None ? arguments[1] : nullptr;
  if (PyExceptionInstance_Check(kind)) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(kind)), kind);
  } else if (PyExceptionClass_Check(kind)) {
    PyErr_SetObject(kind, value);
  } else {
    PyErr_SetString(PyExc_TypeError, "exceptions must be classes or instances deriving from BaseException");
  }
  own(self).fail();
  return nullptr;
}

PyObject* close_method(PyObject* self, PyObject* /*nothing*/) noexcept {
  if (refuse_while_running(self)) return nullptr;
  own(self).close();
  Py_RETURN_NONE;
}

PyObject* itself(PyObject* self) noexcept { return Py_NewRef(self); }
PyObject* name_of(PyObject* self, void* /*closure*/) noexcept { return PyUnicode_FromString(own(self).name()); }
PyObject* repr(PyObject* self) noexcept { return PyUnicode_FromFormat("<AsyncCall %s>", own(self).name()); }

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  auto* const inner = reinterpret_cast<AwaitableObject*>(self)->own;
  return inner == nullptr ? 0 : inner->traverse(visit, arg);
}

int clear(PyObject* self) noexcept {
  own(self).detach();
  return 0;
}

void finalize(PyObject* self) noexcept {
  PyObject* kind = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&kind, &value, &trace);
  own(self).detach();
  PyErr_Restore(kind, value, trace);
}

void dealloc(PyObject* self) noexcept {
  PyObject_GC_UnTrack(self);
  if (PyObject_CallFinalizerFromDealloc(self) < 0) return;
  delete std::exchange(reinterpret_cast<AwaitableObject*>(self)->own, nullptr);
  free_object(self);
}

}  // namespace

void bind_awaitable(py::module_& module) {
  static PyMethodDef methods[] = {
      {"send", &send_method, METH_O, nullptr},
      {"throw", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&throw_method)), METH_FASTCALL, nullptr},
      {"close", &close_method, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef members[] = {{"__name__", &name_of, nullptr, nullptr, nullptr},
                                  {"__qualname__", &name_of, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
  awaitable_type =
      make_type<AwaitableObject>(module, "billcore._client.AsyncCall", "A call of an AsyncClient: await it, once.",
                                 {{Py_am_await, slot(&itself)},
                                  {Py_am_send, slot(&send)},
                                  {Py_tp_iter, slot(&itself)},
                                  {Py_tp_iternext, slot(&next)},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, members},
                                  {Py_tp_repr, slot(&repr)},
                                  {Py_tp_traverse, slot(&traverse)},
                                  {Py_tp_clear, slot(&clear)},
                                  {Py_tp_finalize, slot(&finalize)},
                                  {Py_tp_dealloc, slot(&dealloc)}},
                                 Py_TPFLAGS_HAVE_GC);
  // Lets asyncio.create_task() and related functions accept the type. (An import of collections.abc would be slow.)
  py::module_::import("_collections_abc")
      .attr("Coroutine")
      .attr("register")(py::handle(reinterpret_cast<PyObject*>(awaitable_type)));
}

namespace {

py::object make_object(std::unique_ptr<Awaitable> own) {
  return new_object<AwaitableObject>(awaitable_type, [&](AwaitableObject& made) { made.own = own.release(); });
}

}  // namespace

py::object make_awaitable(py::object reader, const Shortcut& shortcut) {
  return make_object(std::make_unique<Awaitable>(std::move(reader), shortcut));
}

py::object make_awaitable(const BoundClient& bound, std::shared_ptr<Job> job, const char* name) {
  return make_object(std::make_unique<Awaitable>(bound, std::move(job), name));
}

py::object make_awaitable(std::shared_ptr<Job> job, const char* name) {
  return make_object(std::make_unique<Awaitable>(std::nullopt, std::move(job), name));
}

py::object run(const BoundClient& bound, std::unique_ptr<Job> job, const char* name) {
  return bound.is_awaited() ? make_awaitable(bound, std::move(job), name) : block(bound, *job);
}

}  // namespace billcore::python
