#include "asyncio/loops.hpp"

#include <unistd.h>

#include <algorithm>

#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {

std::shared_ptr<Begun> Job::begin(LoopEngine& engine, const Client& client, py::handle loop,
                                  const std::shared_ptr<Job>& self) {
  auto operation = next();
  return operation ? engine.begin(client, loop, *std::move(operation), self) : nullptr;
}

namespace {

using Held = std::shared_ptr<LoopEngine>;

Held& held_by(PyObject* capsule) noexcept { return *static_cast<Held*>(PyCapsule_GetPointer(capsule, nullptr)); }
void drop(PyObject* capsule) noexcept { const std::unique_ptr<Held> ended(&held_by(capsule)); }

bool is_closed(py::handle loop) { return loop.attr("is_closed")().cast<bool>(); }

// The function of asyncio that gives the running loop, or None. An engine's constructor looks it up, since a finalizing
// interpreter may refuse an import.
py::handle running_loop_or_none() {
  static constinit Found found;
  return found.get([] { return py::object(py::module_::import("asyncio").attr("_get_running_loop")); });
}

// Not in the way of a loop that runs in another thread.
bool may_touch(py::handle loop) { return running_loop_or_none()().is(loop) || !loop.attr("is_running")().cast<bool>(); }

}  // namespace

py::object running_loop() {
  static constinit Found found;
  return found.get([] { return py::object(py::module_::import("asyncio").attr("get_running_loop")); })();
}

LoopEngine::LoopEngine(const Client& client, const py::object& loop)
    : pid_(getpid()), client_(client), loop_(py::weakref(loop)) {
  static_cast<void>(running_loop_or_none());
}

template <typename F>
void LoopEngine::quietly(F f) noexcept {
  if (pid_ != getpid()) return;
  const py::error_scope kept;  // the last one to know a client may be a call that is being ended by an exception
  try {
    f();
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("billcore.AsyncClient");
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for it
  }
}

py::object LoopEngine::loop() const { return loop_(); }

bool LoopEngine::is_of(py::handle loop) const { return this->loop().is(loop); }

// A function for a loop, with one argument that it does not use. Those of pybind11 crash when there is no memory for their names.
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

// The loop's reader owns the engine, and the futures; in a context of its own, or it would keep the present one.
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

// What a task waits for: without the loop's hold on it, nothing but the task itself may know it, and both would be garbage.
void LoopEngine::hold(const Begun& begun, bool kept) {
  const py::object waiting = waiting_();
  if (waiting.is_none()) return;
  if ((kept ? PySet_Add(waiting.ptr(), begun.future.ptr()) : PySet_Discard(waiting.ptr(), begun.future.ptr())) < 0) {
    throw py::error_already_set();
  }
}

// In this order: nothing may fail once a request is on its way.
template <typename Start>
void LoopEngine::start_held(const Begun& begun, Start start) {
  hold(begun, true);
  try {
    start();
  } catch (...) {
    hold(begun, false);
    throw;
  }
}

std::shared_ptr<Begun> LoopEngine::new_begun(py::handle loop, const std::shared_ptr<Job>& job) {
  if (!watched_) watch(loop);
  auto begun = std::make_shared<Begun>();
  begun->job = job;
  begun->future = loop.attr("create_future")();
  return begun;
}

std::shared_ptr<Begun> LoopEngine::begin(const Client& client, py::handle loop, Operation operation,
                                         const std::shared_ptr<Job>& job) {
  auto begun = new_begun(loop, job);
  begun->write = operation.is_write();
  // Called from process(), without the GIL.
  const auto end = [self = this, begun](Completed& completed) {
    try {
      begun->job->take(completed);
    } catch (...) {
      begun->error = std::current_exception();
    }
    self->ended_.add(begun);
  };
  start_held(*begun,
             [&] { begun->ticket = AsyncClient(client, client_).start(std::move(operation), job->options(), end); });
  return begun;
}

std::shared_ptr<AsyncPages> LoopEngine::pages(const Client& client, std::shared_ptr<detail::PagerCore> pager,
                                              ListOperation list, const CallOptions& options) {
  return pages_.emplace_back(AsyncClient(client, client_).pages(std::move(pager), std::move(list), options));
}

std::shared_ptr<Begun> LoopEngine::wait(std::shared_ptr<AsyncPages> pages, py::handle loop,
                                        const std::shared_ptr<Job>& job) {
  auto begun = new_begun(loop, job);
  begun->pages = std::move(pages);
  start_held(*begun, [&] { begun->pages->wait([self = this, begun] { self->ended_.add(begun); }); });
  return begun;
}

void LoopEngine::give_up(const Begun& begun) {
  if (begun.pages != nullptr) begun.pages->give_up();
}

void LoopEngine::cancel_abandoned() {
  for (const auto& begun : std::exchange(abandoned_, {})) {
    client_.cancel(begun.ticket);
    give_up(begun);
  }
  buried_.clear();
}

void LoopEngine::tell(const Begun& begun) {
  hold(begun, false);
  if (!begun.future.attr("done")().cast<bool>()) begun.future.attr("set_result")(py::none());
}

void LoopEngine::process() {
  if (pid_ != getpid()) return;  // a child of a fork runs the loop on: the parent reads its answers itself
  const auto kept = shared_from_this();
  cancel_abandoned();
  processing_ = true;
  try {
    without_gil([this] { client_.process(); });
  } catch (...) {
    processing_ = false;
    throw;
  }
  processing_ = false;
  std::optional<py::error_already_set> failed;
  while (const auto begun = ended_.take()) {
    try {
      tell(*begun);
    } catch (const py::error_already_set& error) {  // the others are to be told all the same
      failed = error;
    }
  }
  cancel_abandoned();
  end_if_closing();
  if (failed) throw *failed;
}

void LoopEngine::end_if_closing() {
  if (closing_ && client_.running() == 0) close_here();
}

std::string LoopEngine::cancel(Begun& begun) {
  hold(begun, false);
  if (processing_) {  // by a hook, perhaps of the very operation
    abandoned_.push_back({.ticket = begun.ticket, .pages = begun.pages});
    return begun.write ? "given up within a hook; it may or may not have happened" : "";
  }
  const auto cancelled = client_.cancel(begun.ticket);
  give_up(begun);
  end_if_closing();
  return cancelled.outcome_unknown ? cancelled.text : std::string();
}

void LoopEngine::abandon(const Begun& begun) noexcept {
  quietly([&] {
    hold(begun, false);
    const auto loop = this->loop();
    if (!processing_ && (loop.is_none() || may_touch(loop))) {
      client_.cancel(begun.ticket);
      give_up(begun);
      end_if_closing();
    } else {
      abandoned_.push_back({.ticket = begun.ticket, .pages = begun.pages});
    }
  });
}

void LoopEngine::bury(std::shared_ptr<AsyncPages> pages) noexcept {
  std::erase(pages_, pages);
  quietly([&] {
    const auto loop = this->loop();
    if (processing_ || !(loop.is_none() || may_touch(loop))) buried_.push_back(pages);
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
    if (processing_ || client_.running() != 0) return;  // process() sees to it
    const auto loop = this->loop();
    if (loop.is_none() || may_touch(loop)) {
      close_here();
    } else if (!is_closed(loop)) {
      loop.attr("call_soon_threadsafe")(callback<&LoopEngine::end_if_closing>(), py::none());
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
