// The shared state of a list and the jobs that read it, for Pager, its iterators and Arrow.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "asyncio/awaitable.hpp"
#include "asyncio/loops.hpp"
#include "call/bound_client.hpp"
#include "call/interruption.hpp"
#include "call/job.hpp"
#include "shared/busy.hpp"
#include "shared/uninitialised.hpp"
#include "shared/view.hpp"

namespace billcore::python {

/// State shared by the Python objects of one list. Only one reader at a time may read the list (see ExclusiveUse):
/// while a reader waits for a page without the GIL, another thread, a signal handler or another task may try to read
/// the list as well.
class List {
 public:
  List(BoundClient from, View what, ListOperation list, const detail::PagerOptions& pager_options, CallOptions call)
      : bound(std::move(from)),
        type(what),
        operation(std::move(list)),
        options(std::move(call)),
        hooks_(bound.is_awaited() ? nullptr : bound.hooks.for_call(false)),
        pager(make_flow(pager_options)) {}

  ~List() {
    const hook_interrupt::Scope scope;
    pager.stop();
    detach();
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  /// Stops reading the list, because its remaining items are not needed; does nothing while a reader is active.
  void stop() noexcept {
    if (busy.exchange(true)) return;
    const hook_interrupt::Scope scope;
    pager.stop();
    detach();
    busy = false;
  }

  [[nodiscard]] detail::PageFlow& flow() const noexcept { return *internal::Access::flow(pager); }

  /// Returns the list's pages in the event loop of `engine`. Reading the list in another loop requests the pages
  /// again.
  [[nodiscard]] std::shared_ptr<internal::LoopPages> pages(LoopEngine& engine, const CallOptions& call) {
    auto pages = engine_.lock().get() == &engine ? pages_.lock() : nullptr;
    if (pages == nullptr) {
      detach();
      pages = engine.pages(bound.client, internal::Access::flow(pager), operation, call);
      engine_ = engine.weak_from_this();
      pages_ = pages;
    }
    return pages;
  }

  /// Records that a reader has reached the end.
  void end() const noexcept { ended_ = true; }
  /// Throws Error(invalid_argument) if the list was read to its end: a second read would silently return no items.
  void refuse_second_reading() {
    // If another reader is active, the next read throws.
    if (!ended_ || busy.exchange(true)) return;
    // After take_back() the list is no longer at its end.
    const bool is_at_end = flow().core().has_ended() && !flow().core().buffered();
    busy = false;
    if (!is_at_end) return;
    refuse("this list of " + std::string(name()) + " was read to its end: list again to read it once more");
  }

  /// The kind of the list's items, such as "orders".
  [[nodiscard]] const char* name() const noexcept { return list_name(type); }

  /// Does the list have hooks? A thread must hold the GIL to call hooks.
  [[nodiscard]] bool has_hooks() const noexcept { return hooks_ != nullptr; }

  /// Visits the client and the hooks for the garbage collector.
  int traverse(visitproc visit, void* arg) const {
    const int stop = bound.traverse(visit, arg);
    return stop != 0 ? stop : traverse_hooks(hooks_, visit, arg);
  }

  const BoundClient bound;
  const View type;
  const ListOperation operation;
  const CallOptions options;

 private:
  [[nodiscard]] internal::Flow make_flow(const detail::PagerOptions& pager_options) const {
    if (bound.is_awaited()) {
      auto limited = pager_options;
      limited.total_timeout = options.total_timeout;
      return internal::list_for_loops(bound.client, operation, limited);
    }
    auto hooked = options;
    hooked.hooks = hooks_;
    return internal::list(bound.client, operation, pager_options, hooked);
  }

  void detach() noexcept {
    const auto engine = engine_.lock();
    if (auto pages = pages_.lock(); engine != nullptr && pages != nullptr) engine->detach(std::move(pages));
    pages_.reset();
  }

  std::shared_ptr<Hooks> hooks_;  // set for a list of a blocking client with hooks; `pager` uses the same hooks

 public:
  AnyPager pager;
  std::atomic<bool> busy{false};

 private:
  // Weak references, because the loop owns its engine and the pages: closing the loop releases the engine and the
  // pages, even while the list exists.
  std::weak_ptr<LoopEngine> engine_;
  std::weak_ptr<internal::LoopPages> pages_;
  mutable std::atomic<bool> ended_{false};
};

/// A reference to a Python object that owns a List. Each object that uses the list has its own reference, so that the
/// garbage collector can find these objects. Copy and drop a ListPtr only with the GIL.
class ListPtr {
 public:
  ListPtr() = default;
  explicit ListPtr(std::unique_ptr<List> list);
  [[nodiscard]] List* get() const noexcept;
  [[nodiscard]] List& operator*() const noexcept { return *get(); }
  [[nodiscard]] List* operator->() const noexcept { return get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(object_); }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(object_.ptr());
    return 0;
  }

 private:
  py::object object_;
};

/// While it exists, no other reader may read the list, which must outlive it. May be used with or without the GIL.
class ExclusiveUse : Busy<std::atomic<bool>> {
 public:
  explicit ExclusiveUse(const ListPtr& list)
      : Busy(list->busy, "the pager is in use by another thread or task: one at a time, or a pager for each"),
        list_(list.get()) {}
  [[nodiscard]] const List* operator->() const noexcept { return list_; }

 private:
  const List* list_;
};

/// Reads a list: fetches pages until has_enough() returns true.
class ListJob : public Job {
 public:
  /// `reader` is the iterator for which the job reads. The job keeps the iterator alive, because an awaited iterator
  /// may have no other reference, and its destructor stops the list.
  explicit ListJob(ListPtr list, py::object reader = {})
      : Job(list->options), list_(std::move(list)), reader_(std::move(reader)) {}
  [[nodiscard]] std::optional<Operation> next() override {
    begin_use();
    while (!has_enough() && without_gil([this] { return flow().advance(); }) == detail::Step::taken) {
      ++taken_;
      // Check for signals: the engine checks only while it waits, and it never waits if pages arrive quickly.
      release();  // signal handlers may read the list
      if (interruption_raised()) throw py::error_already_set();
      begin_use();
    }
    return std::nullopt;
  }
  void release() noexcept override { use_.reset(); }
  [[nodiscard]] py::object result() final {
    before_ = flow().core().mark();
    auto out = give();
    after_ = flow().core().mark();
    return out;
  }
  void take_back() noexcept override {
    if (list_->busy.exchange(true)) return;  // another reader is active, such as a signal handler
    restore();
    list_->busy = false;
  }
  [[nodiscard]] std::shared_ptr<PendingCall> proceed(LoopEngine& engine, const Client& /*client*/, py::handle loop,
                                                     const std::shared_ptr<Job>& self) override {
    begin_use();
    const auto pages = list_->pages(engine, options());
    while (!has_enough()) {
      const auto step = flow().advance();
      if (step == detail::Step::pending) return engine.wait(pages, loop, self);
      if (step == detail::Step::ended) break;
      ++taken_;
    }
    return nullptr;
  }
  int traverse(visitproc visit, void* arg) const override {
    Py_VISIT(reader_.ptr());
    const int stop = list_.traverse(visit, arg);
    return stop != 0 ? stop : Job::traverse(visit, arg);
  }

 protected:
  [[nodiscard]] virtual bool has_enough() = 0;
  /// Takes the result from the list, or raises a Python error.
  [[nodiscard]] virtual py::object give() = 0;
  [[nodiscard]] List& list() const noexcept { return *list_; }
  [[nodiscard]] detail::PageFlow& flow() const noexcept { return list_->flow(); }
  [[nodiscard]] int taken() const noexcept { return taken_; }
  /// For a job that takes more than one page: call this function before the job takes a page, so that take_back() puts
  /// all pages back.
  void remember_position() {
    if (whole_ == nullptr) whole_ = std::make_unique<const detail::PagerCore>(flow().core());
  }
  void forget_position() noexcept { whole_ = nullptr; }
  /// Returns to the list the items that the job took from it. Returns false if memory ran out.
  virtual bool restore() noexcept {
    if (whole_ == nullptr) {
      flow().core().take_back(before_, after_);
      return true;
    }
    try {
      flow().core() = *std::exchange(whole_, nullptr);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  // Ends an iteration: raises StopIteration or StopAsyncIteration. The list stays at its end: a job that raises takes
  // back what it took, but the end is not an item.
  [[noreturn]] void raise_stop() {
    forget_position();
    list_->end();
    PyErr_SetNone(list().bound.is_awaited() ? PyExc_StopAsyncIteration : PyExc_StopIteration);
    throw py::error_already_set();
  }

 private:
  // Locks the list for reading. The job calls begin_use() when it runs or is awaited, not when it is made.
  void begin_use() {
    if (use_) return;
    internal::require_open(list().bound.client);
    use_.emplace(list_);
  }

  ListPtr list_;
  py::object reader_;
  std::optional<ExclusiveUse> use_;  // destroyed before list_
  int taken_ = 0;
  detail::PagerMark before_;
  detail::PagerMark after_;
  std::unique_ptr<const detail::PagerCore> whole_;
};

/// An iteration over a pager; dropping it before the end stops the list.
struct Iteration {
  explicit Iteration(ListPtr shared) : list(std::move(shared)) {}
  Iteration(Iteration&&) noexcept = default;
  Iteration& operator=(Iteration&&) = delete;
  Iteration(const Iteration&) = delete;
  Iteration& operator=(const Iteration&) = delete;
  ~Iteration() {
    if (list) list->stop();
  }
  int traverse(visitproc visit, void* arg) const { return list.traverse(visit, arg); }
  ListPtr list;
};

template <typename WhichJob, typename... More>
py::object read(const ListPtr& list, const char* name, const More&... more) {
  return run(list->bound, std::make_unique<WhichJob>(list, more...), name);
}

constexpr const char* belongs_to_client = "it belongs to a client, which holds an API key";

/// Allows Pager[Order] and Page[Order] in annotations.
void make_generic(py::handle type);

/// Implement Pager.to_arrow() and to_batches(). If `fields` is None, the columns are all fields but the secret ones;
/// `constants` maps the names of further columns to their values; if `rows` is None, each page is a batch.
[[nodiscard]] py::object make_arrow_stream(const ListPtr& list, py::handle fields);
[[nodiscard]] py::object make_batches(const ListPtr& list, py::handle fields, py::handle constants, py::handle rows);
void bind_arrow(py::module_& module);

}  // namespace billcore::python
