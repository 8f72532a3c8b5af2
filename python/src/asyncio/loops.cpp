#include "asyncio/loops.hpp"

#include <algorithm>

#include "asyncio/awaitable.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {

namespace {

using Held = std::shared_ptr<LoopEngine>;

Held& held_by(PyObject* capsule) noexcept { return *static_cast<Held*>(PyCapsule_GetPointer(capsule, nullptr)); }
void drop(PyObject* capsule) noexcept { const std::unique_ptr<Held> ended(&held_by(capsule)); }

bool is_closed(py::handle loop) { return loop.attr("is_closed")().cast<bool>(); }

// Returns asyncio's function that returns the running loop, or None. The first call imports asyncio, which fails while
// the interpreter is finalizing; so the constructor of LoopEngine makes that call.
py::handle running_loop_or_none() {
  static constinit CachedImport found;
  return found.get([] { return py::object(py::module_::import("asyncio").attr("_get_running_loop")); });
}

// Calls a method of a loop or a future, with an argument or without. Each call is part of an awaited call, so `name` is
// made only once.
py::object call_method(py::handle object, CachedImport& name, const char* text, PyObject* argument = nullptr) {
  const auto method = name.get([text] { return checked(PyUnicode_InternFromString(text)); });
  if (argument == nullptr) return checked(PyObject_CallMethodNoArgs(object.ptr(), method.ptr()));
  return checked(PyObject_CallMethodOneArg(object.ptr(), method.ptr(), argument));
}

py::object new_future(py::handle loop) {
  static constinit CachedImport create_future;
  return call_method(loop, create_future, "create_future");
}

void set_done(py::handle future) {
  static constinit CachedImport done;
  static constinit CachedImport set_result;
  if (!call_method(future, done, "done").cast<bool>()) call_method(future, set_result, "set_result", Py_None);
}

// Creates the future that an awaited write waits for; see _awaited.py.
py::object new_write_future(py::handle loop) {
  static constinit CachedImport found;
  const auto type = found.get([] { return py::object(py::module_::import("billcore._awaited").attr("WriteFuture")); });
  return type(py::arg("loop") = loop);
}

}  // namespace

py::object running_loop() {
  auto loop = running_loop_or_none()();
  if (!loop.is_none()) return loop;
  PyErr_SetString(PyExc_RuntimeError, "no running event loop of asyncio: an AsyncClient works with asyncio only");
  throw py::error_already_set();
}

void log_lost(const PendingCall& call) noexcept try {
  if (const auto result = call.job->lost(call.error)) log_lost(*result);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): out of memory, cannot be logged
}

LoopEngine::LoopEngine(const Client& client, const py::object& loop) : client_(client), loop_(py::weakref(loop)) {
  static_cast<void>(running_loop_or_none());
}

template <typename F>
void LoopEngine::quietly(F f) noexcept {
  if (!internal::is_ours(client_)) return;
  const py::error_scope kept;  // a client's last reference may be dropped while a Python error is set
  try {
    f();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("billcore.AsyncClient");
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): out of memory, cannot be reported
  }
}

py::object LoopEngine::loop() const { return loop_(); }

bool LoopEngine::is_of(py::handle loop) const { return this->loop().is(loop); }

// Whether this thread may modify the loop and cancel its calls; false while another thread runs the loop. The loop may
// already be garbage-collected while a thread is still in process(), because an exiting interpreter does not wait for
// every thread.
bool LoopEngine::may_touch(py::handle loop) const {
  if (loop.is_none()) return !processing_;
  return running_loop_or_none()().is(loop) || !loop.attr("is_running")().cast<bool>();
}

// Creates a callback for the loop; its one argument is unused. Uses the C API, because pybind11's functions crash
// when the memory for their names cannot be allocated.
template <void (LoopEngine::*step)()>
py::object LoopEngine::callback() {
  const PyCFunction run = [](PyObject* capsule, PyObject* /*unused*/) noexcept {
    return guarded<PyObject*>(nullptr, [capsule] {
      const Held self = held_by(capsule);
      (self.get()->*step)();
      return Py_NewRef(Py_None);
    });
  };
  static PyMethodDef method{"step", run, METH_O, nullptr};
  auto held = std::make_unique<Held>(shared_from_this());
  const auto capsule = checked(PyCapsule_New(held.get(), nullptr, &drop));
  static_cast<void>(held.release());
  return checked(PyCFunction_New(&method, capsule.ptr()));
}

// Registers the engine's descriptor with the loop (add_reader). Through the reader that add_reader() makes, the loop
// owns the engine and the futures. add_reader() runs in an empty context, because otherwise the reader would keep the
// current context alive.
void LoopEngine::watch(py::handle loop) {
  const py::set waiting;
  const auto process = callback<&LoopEngine::process>();
  const auto context = py::module_::import("contextvars").attr("Context")();
  try {
    context.attr("run")(loop.attr("add_reader"), client_.descriptor(), process, waiting);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_OSError)) throw;
    throw Error(ErrorCode::internal,
                "the event loop cannot watch a descriptor: " + py::str(error.value()).cast<std::string>());
  }
  waiting_ = py::weakref(py::handle(waiting));
  watched_ = true;
}

// Adds the future of a waiting task to a set that the loop owns or, if `kept` is false, removes the future. Without the
// set, the future and the task might be referenced only by each other, and the garbage collector would free both.
void LoopEngine::hold(const PendingCall& call, bool kept) {
  const py::object waiting = waiting_();
  if (waiting.is_none()) return;
  if ((kept ? PySet_Add(waiting.ptr(), call.future.ptr()) : PySet_Discard(waiting.ptr(), call.future.ptr())) < 0) {
    throw py::error_already_set();
  }
}

// Calls hold() before `start`, because no step may fail once a request is in flight.
template <typename Start>
void LoopEngine::start_held(const PendingCall& call, Start start) {
  hold(call, true);
  try {
    start();
  } catch (...) {
    hold(call, false);
    throw;
  }
}

std::shared_ptr<PendingCall> LoopEngine::new_call(py::handle loop, const std::shared_ptr<Job>& job, bool write) {
  if (!watched_) watch(loop);
  auto call = std::make_shared<PendingCall>();
  call->job = job;
  call->future = write ? new_write_future(loop) : new_future(loop);
  call->write = write;
  return call;
}

std::shared_ptr<PendingCall> Job::proceed(LoopEngine& engine, const Client& client, py::handle loop,
                                          const std::shared_ptr<Job>& self) {
  auto operation = next();
  return operation ? engine.begin(client, loop, *std::move(operation), self) : nullptr;
}

std::shared_ptr<PendingCall> LoopEngine::begin(const Client& client, py::handle loop, Operation operation,
                                               const std::shared_ptr<Job>& job) {
  if (operation.is_write()) need_given_up_log();
  auto call = new_call(loop, job, operation.is_write());
  // process() calls `end` without the GIL when the operation has ended.
  const auto end = [self = this, call](Completed& completed) {
    try {
      call->job->take(completed);
    } catch (...) {
      call->error = std::current_exception();
    }
    self->ended_.add(call);
  };
  start_held(*call, [&] { call->id = AsyncClient(client, client_).start(std::move(operation), job->options(), end); });
  return call;
}

std::shared_ptr<internal::LoopPages> LoopEngine::pages(const Client& client, internal::Flow list,
                                                       ListOperation operation, const CallOptions& options) {
  auto made = std::make_shared<internal::LoopPages>(AsyncClient(client, client_), std::move(list), std::move(operation),
                                                    options);
  waits_.push_back(made);
  return made;
}

std::shared_ptr<internal::LoopMany> LoopEngine::many(const Client& client, const ManyOptions& options,
                                                     const CallOptions& call) {
  auto made = std::make_shared<internal::LoopMany>(AsyncClient(client, client_), options, call);
  waits_.push_back(made);
  return made;
}

std::shared_ptr<PendingCall> LoopEngine::wait(std::shared_ptr<internal::LoopWait> what, py::handle loop,
                                              const std::shared_ptr<Job>& job) {
  auto call = new_call(loop, job, false);
  call->wait = std::move(what);
  start_held(*call, [&] { call->wait->wait([self = this, call] { self->ended_.add(call); }); });
  return call;
}

// A hook may cancel any operation, including the operation that the hook reports. If a wait for a list's page is
// cancelled during process(), the wait ends when client_.process() has returned.
AsyncClient::Cancelled LoopEngine::cancel_now(PendingCall& call) {
  auto out = client_.cancel(call.id);
  call.given_up = processing_;
  if (processing_) {
    if (call.wait != nullptr) detached_calls_.push_back({.wait = call.wait});
  } else {
    if (call.wait != nullptr) call.wait->cancel();
    finish_closing();
  }
  return out;
}

void LoopEngine::cancel_later(PendingCall& call) {
  call.given_up = true;
  detached_calls_.push_back({.id = call.id, .wait = call.wait});
}

void LoopEngine::cancel_detached() {
  for (auto& call : std::exchange(detached_calls_, {})) {
    cancel_now(call);
  }
  // Dropping pages may run hooks, which may detach further pages.
  const auto dropped = std::exchange(detached_waits_, {});
}

void LoopEngine::finish(const PendingCall& call) {
  hold(call, false);
  if (call.given_up && call.write) log_lost(call);
  set_done(call.future);
}

void LoopEngine::process() {
  if (!internal::is_ours(client_)) return;  // a forked child may run the loop, but only the parent reads the answers
  const auto kept = shared_from_this();
  cancel_detached();
  processing_ = true;
  try {
    without_gil([this] { client_.process(); });
  } catch (...) {
    processing_ = false;
    throw;
  }
  processing_ = false;
  std::optional<py::error_already_set> failed;
  while (const auto call = ended_.take()) {
    try {
      finish(*call);
    } catch (const py::error_already_set& error) {  // finish the other calls before rethrowing
      failed = error;
    }
  }
  cancel_detached();
  finish_closing();
  if (failed) throw *failed;
}

void LoopEngine::finish_closing() {
  if (closing_ && client_.running() == 0) close_here();
}

std::string LoopEngine::cancel(PendingCall& call) {
  hold(call, false);
  if (processing_ && !may_touch(loop())) {  // the loop runs in another thread
    cancel_later(call);
    return call.write ? "abandoned while its loop was busy; it may or may not have happened" : "";
  }
  const auto cancelled = cancel_now(call);
  return cancelled.outcome_unknown ? cancelled.text : std::string();
}

void LoopEngine::detach(PendingCall& call) noexcept {
  quietly([&] {
    hold(call, false);
    if (may_touch(loop())) {
      cancel_now(call);
    } else {
      cancel_later(call);
    }
  });
}

void LoopEngine::detach(std::shared_ptr<internal::LoopWait> what) noexcept {
  std::erase(waits_, what);
  quietly([&] {
    if (processing_ || !may_touch(loop())) detached_waits_.push_back(what);
  });
}

void LoopEngine::close_here() {
  const auto loop = this->loop();
  if (!std::exchange(watched_, false) || loop.is_none() || is_closed(loop)) return;
  loop.attr("remove_reader")(client_.descriptor());
}

void LoopEngine::close() noexcept {
  closing_ = true;
  quietly([this] {
    if (processing_ || client_.running() != 0) return;  // process() closes the connections later
    const auto loop = this->loop();
    if (may_touch(loop)) {
      close_here();
    } else if (!is_closed(loop)) {
      loop.attr("call_soon_threadsafe")(callback<&LoopEngine::finish_closing>(), py::none());
    }
  });
}

std::shared_ptr<LoopEngine> Loops::of(py::handle loop, const Client& client) {
  for (const auto& each : engines_) {
    if (auto engine = each.lock(); engine != nullptr && engine->is_of(loop)) return engine;
  }
  std::erase_if(engines_, [](const auto& each) { return each.expired(); });
  auto engine = std::make_shared<LoopEngine>(client, py::reinterpret_borrow<py::object>(loop));
  engines_.push_back(engine);
  return engine;
}

void Loops::close() noexcept {
  for (const auto& each : std::exchange(engines_, {})) {
    if (const auto engine = each.lock()) engine->close();
  }
}

}  // namespace billcore::python
