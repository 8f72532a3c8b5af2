// The iterators that get_many() returns.
#include "paging/many.hpp"

#include <structseq.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "asyncio/awaitable.hpp"
#include "asyncio/loops.hpp"
#include "billcore/internal.hpp"
#include "call/interruption.hpp"
#include "paging/list.hpp"
#include "shared/classes.hpp"
#include "shared/client_docs.hpp"
#include "shared/fast_call.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

PyTypeObject* got_type = nullptr;

// Creates the Python exception of an error without raising it.
py::object exception_of(const Error& error) {
  bridge().set_error(error);
  return py::error_already_set().value();
}

py::object python_id(const Id& id) {
  if (!id.is_integer()) return string(id.text());
  return checked(PyLong_FromString(id.text().c_str(), nullptr, 10));
}

py::object python_got(View type, const Got<Value>& from) {
  auto out = checked(PyStructSequence_New(got_type));
  PyStructSequence_SetItem(out.ptr(), 0, python_id(from.id).release().ptr());
  auto value = from.value ? view(type, *from.value) : py::object(py::none());
  PyStructSequence_SetItem(out.ptr(), 1, value.release().ptr());
  auto error = from.error ? exception_of(*from.error) : py::object(py::none());
  PyStructSequence_SetItem(out.ptr(), 2, error.release().ptr());
  return out;
}

/// What an iterator over the results of get_many() owns. Only one reader at a time: while it waits without the GIL, or
/// takes an id from the user's iterable, another thread, a signal handler or another task may call it as well.
struct Many {
  BoundClient bound;
  ManyRequest request;
  py::object ids;  // an iterator; null after its end
  ManyOptions options;
  CallOptions call;
  std::shared_ptr<Hooks> hooks = {};                 // of a blocking client
  std::shared_ptr<detail::BlockingMany> calls = {};  // of a blocking client
  std::weak_ptr<LoopEngine> engine = {};             // of an AsyncClient, as its calls: the loop owns both
  std::weak_ptr<internal::LoopMany> loop_calls = {};
  bool begun = false;
  std::optional<Got<Value>> back = {};  // a result whose reader was interrupted
  std::atomic<bool> busy = false;

  ~Many() { stop(); }
  void stop() noexcept {
    const hook_interrupt::Scope scope;
    if (calls != nullptr) calls->stop();
    if (const auto on = engine.lock()) {
      if (auto own = loop_calls.lock()) on->detach(std::move(own));
    }
  }

  /// Takes ids from the iterable and starts their calls, as many as may be in flight.
  template <typename Calls>
  void fill(Calls& with) {
    while (ids && with.wants()) {
      const auto next = py::reinterpret_steal<py::object>(PyIter_Next(ids.ptr()));
      if (!next) {
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        ids = py::object();
        return;
      }
      auto id = request.id(next);
      auto get = request.get(id);
      with.add({std::move(id)}, std::move(get));
    }
  }

  /// The calls in the event loop of `engine`.
  [[nodiscard]] std::shared_ptr<internal::LoopMany> in_loop(LoopEngine& on, const CallOptions& hooked) {
    auto own = engine.lock().get() == &on ? loop_calls.lock() : nullptr;
    if (own != nullptr) return own;
    if (std::exchange(begun, true)) refuse("get_many() began in another event loop: begin again in this one");
    own = on.many(bound.client, options, hooked);
    engine = on.weak_from_this();
    loop_calls = own;
    return own;
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(ids.ptr());
    const int stop = bound.traverse(visit, arg);
    return stop != 0 ? stop : traverse_hooks(hooks, visit, arg);
  }
};

constexpr const char* in_use = "get_many() is in use by another thread or task: one at a time";

class NextGot final : public Job {
 public:
  NextGot(py::object iterator, Many& many) : Job(many.call), iterator_(std::move(iterator)), many_(many) {}
  [[nodiscard]] std::optional<Operation> next() override {
    begin_use();
    if (take_again()) return std::nullopt;
    many_.fill(*many_.calls);
    auto result = without_gil([this] { return many_.calls->next(); });
    if (result) got_ = detail::got(*std::move(result));
    return std::nullopt;
  }
  [[nodiscard]] std::shared_ptr<PendingCall> proceed(LoopEngine& engine, const Client& /*client*/, py::handle loop,
                                                     const std::shared_ptr<Job>& self) override {
    begin_use();
    if (take_again()) return nullptr;
    const auto calls = many_.in_loop(engine, options());
    many_.fill(*calls);
    if (!calls->has()) return calls->empty() ? nullptr : engine.wait(calls, loop, self);
    got_ = detail::got(calls->take());
    return nullptr;
  }
  [[nodiscard]] py::object result() override {
    if (got_) return python_got(many_.request.type, *got_);
    PyErr_SetNone(many_.bound.is_awaited() ? PyExc_StopAsyncIteration : PyExc_StopIteration);
    throw py::error_already_set();
  }
  void release() noexcept override { use_.reset(); }
  void take_back() noexcept override {
    if (got_) many_.back = std::exchange(got_, std::nullopt);
  }

 private:
  void begin_use() {
    if (!use_) use_.emplace(many_.busy, in_use);
  }
  bool take_again() {
    got_ = std::exchange(many_.back, std::nullopt);
    return got_.has_value();
  }

  py::object iterator_;  // keeps many_ alive
  Many& many_;
  std::optional<Busy<std::atomic<bool>>> use_;  // destroyed before iterator_
  std::optional<Got<Value>> got_;
};

template <bool awaited>
struct GotIteration {
  std::unique_ptr<Many> own;
  int traverse(visitproc visit, void* arg) const { return own->traverse(visit, arg); }
  void clear() noexcept { own->ids = py::object(); }
};
using Blocking = GotIteration<false>;
using Awaited = GotIteration<true>;

Many& many_of(py::handle iterator) { return *held<Awaited>(iterator.ptr()).own; }

// A result that is here needs no job.
py::object take_arrived(py::handle iterator) {
  auto& many = many_of(iterator);
  const auto engine = many.engine.lock();
  const auto calls = many.loop_calls.lock();
  if (calls == nullptr || engine == nullptr || !engine->is_of(running_loop())) return {};
  if (many.back || many.busy) return {};
  {
    const Busy use(many.busy, in_use);
    many.fill(*calls);
  }
  if (!calls->has()) return {};
  many.back = detail::got(calls->take());
  auto out = python_got(many.request.type, *many.back);
  many.back.reset();
  return out;
}

constexpr Shortcut next_awaited_got{
    "AsyncGotIterator.__anext__",
    &take_arrived,
    [](const py::object& iterator) -> std::unique_ptr<Job> {
      return std::make_unique<NextGot>(iterator, many_of(iterator));
    },
    [](py::handle iterator) -> const BoundClient& { return many_of(iterator).bound; },
};

py::object as_iterator(py::handle ids) {
  if (PyUnicode_Check(ids.ptr()) || PyBytes_Check(ids.ptr())) {
    refuse("ids must be an iterable of ids, not " + type_name(ids) + ": for one id use get()");
  }
  auto* const iterator = PyObject_GetIter(ids.ptr());
  if (iterator == nullptr) {
    PyErr_Clear();
    refuse("ids must be an iterable of ids, not " + type_name(ids));
  }
  return py::reinterpret_steal<py::object>(iterator);
}

template <typename Iteration>
py::class_<Iteration> bind_iteration(py::module_& module, const char* name) {
  auto type = final_class<Iteration>(
      module, name, "Results of get_many(); dropped before the end, the calls in flight are cancelled.",
      belongs_to_client);
  make_generic(type);
  return type;
}

void bind_got(py::module_& module) {
  static PyStructSequence_Field fields[] = {{"id", "The id."},
                                            {"value", "The record; None if there is an error."},
                                            {"error", "The exception of the id's call; None if there is a record."},
                                            {nullptr, nullptr}};
  static PyStructSequence_Desc description{"billcore.Got", docs::about_got, fields, 3};
  got_type = PyStructSequence_NewType(&description);
  if (got_type == nullptr) throw py::error_already_set();
  const py::handle type(reinterpret_cast<PyObject*>(got_type));
  make_generic(type);
  module.attr("Got") = type;
}

}  // namespace

py::object make_many(const BoundClient& bound, const ManyRequest& request, ManyArguments from) {
  internal::require_open(bound.client);
  auto many = std::unique_ptr<Many>(new Many{
      .bound = bound, .request = request, .ids = as_iterator(from.ids), .options = {}, .call = std::move(from.call)});
  if (!left_out(from.concurrency)) {
    const auto concurrency = integer(from.concurrency, "concurrency");
    if (concurrency < 1 || concurrency > 10'000) refuse("concurrency must be from 1 to 10,000");
    many->options.concurrency = static_cast<int>(concurrency);
  }
  if (!left_out(from.ordered)) many->options.ordered = boolean(from.ordered, "ordered");
  if (bound.is_awaited()) return py::cast(Awaited{std::move(many)});
  many->hooks = bound.hooks.for_call(false);
  auto hooked = many->call;
  hooked.hooks = many->hooks;
  many->calls = internal::many(bound.client, many->options, hooked);
  return py::cast(Blocking{std::move(many)});
}

void bind_many(py::module_& module) {
  bind_got(module);
  const auto same = [](py::object self) { return self; };
  auto blocking = bind_iteration<Blocking>(module, "GotIterator");
  blocking.def("__iter__", same);
  def_next(blocking, [](const py::object& self) {
    auto& many = *held<Blocking>(self.ptr()).own;
    return run(many.bound, std::make_unique<NextGot>(self, many), "GotIterator.__next__");
  });
  bind_iteration<Awaited>(module, "AsyncGotIterator")
      .def("__aiter__", same)
      .def("__anext__", [](const py::object& self) {
        static_cast<void>(many_of(self));  // refuses an object of another class
        return make_awaitable(self, next_awaited_got);
      });
}

}  // namespace billcore::python
