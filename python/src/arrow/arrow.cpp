// Lists as Arrow columns, through the PyCapsule interface: ArrowStream, ArrowBatch.
// https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html

#include "billcore/arrow.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrow/columns.hpp"
#include "call/interruption.hpp"
#include "paging/list.hpp"
#include "shared/classes.hpp"
#include "shared/client_docs.hpp"
#include "shared/error.hpp"
#include "shared/fast_call.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

// ---- Capsules -------------------------------------------------------------------------------------------------------------

template <typename Struct>
constexpr const char* capsule_name = nullptr;
template <>
constexpr const char* capsule_name<ArrowSchema> = "arrow_schema";
template <>
constexpr const char* capsule_name<ArrowArray> = "arrow_array";
template <>
constexpr const char* capsule_name<ArrowArrayStream> = "arrow_array_stream";

template <typename Struct>
void destroy(PyObject* capsule) noexcept {
  detail::ArrowDelete()(static_cast<Struct*>(PyCapsule_GetPointer(capsule, capsule_name<Struct>)));
}

template <typename Struct>
py::object capsule(detail::ArrowPtr<Struct> owned) {
  auto out = checked(PyCapsule_New(owned.get(), capsule_name<Struct>, &destroy<Struct>));
  static_cast<void>(owned.release());
  return out;
}

// ---- A stream -------------------------------------------------------------------------------------------------------------

int raise_kept(void* exception) noexcept {
  const auto kept = py::reinterpret_steal<py::object>(static_cast<PyObject*>(exception));
  PyErr_SetObject(py::type::handle_of(kept).ptr(), kept.ptr());
  return -1;
}

// Call this function when a signal interrupted an Arrow reader that is not Python code: it makes Python raise the
// signal handler's exception as soon as Python code runs again.
void raise_soon() {
  const Gil gil;
  if (PyErr_Occurred() == nullptr) return PyErr_SetInterrupt();
  const py::error_already_set raised;
  auto* const exception = py::object(raised.value()).release().ptr();
  if (Py_AddPendingCall(&raise_kept, exception) == 0) return;
  Py_DECREF(exception);
  PyErr_SetInterrupt();
}

/// State shared by the capsules of one ArrowStream. Only the first capsule that begins to read may read the list.
struct Reading {
  Reading(ListPtr from, ColumnsPtr what) : list(std::move(from)), columns(std::move(what)) {}

  const ListPtr list;
  const ColumnsPtr columns;
  std::atomic<bool> begun{false};
  std::mutex mutex;
  std::optional<Error> error;  // error of the last ListBatches::next(); empty if it succeeded

  void keep(const std::optional<Error>& last) {
    const std::lock_guard lock(mutex);
    error = last;
  }
};
using ReadingPtr = std::shared_ptr<Reading>;

/// The shared state of a released stream. A Released owns Python objects, so a thread that holds the GIL must destroy
/// it.
struct Released {
  ReadingPtr reading;
  bool stops;  // whether finish() must still stop the list
  void finish() const noexcept {
    if (stops) reading->list->stop();
  }
};

int let_go(void* kept) noexcept {
  const std::unique_ptr<Released> released(static_cast<Released*>(kept));
  released->finish();
  return 0;
}

/// The batches of an Arrow stream. The stream's reader may call next() on any thread, with or without the GIL.
class ListBatches final : public detail::BatchSource {
 public:
  explicit ListBatches(ReadingPtr reading) : reading_(std::move(reading)), batches_(reading_->columns) {}
  // The thread that releases the stream may hold a lock that the GIL's holder is waiting for. To avoid a deadlock,
  // the destructor waits for the GIL only if Python's queue of pending calls is full.
  ~ListBatches() override {
    const bool held = has_gil();
    const bool gone = !held && is_finalizing();
    const bool later = !held && reading_->list->has_hooks();
    if (begun_ && !gone && !later) reading_->list->stop();
    if (held) return;
    std::unique_ptr<Released> kept(new (std::nothrow) Released{std::move(reading_), begun_ && later});
    if (gone || kept == nullptr || Py_AddPendingCall(&let_go, kept.get()) == 0) {
      static_cast<void>(kept.release());
      return;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): let_go() frees the Released, or it leaks on purpose
    }
    const Gil gil;
    kept->finish();
    kept.reset();
  }
  ListBatches(const ListBatches&) = delete;
  ListBatches& operator=(const ListBatches&) = delete;

  [[nodiscard]] std::optional<detail::Batch> next() override {
    std::optional<NoGil> released;
    if (has_gil()) released.emplace();
    const Outside outside;
    try {
      reading_->keep(std::nullopt);
      return read();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted) {
        raise_soon();
      } else {
        reading_->keep(error);
      }
      throw;
    }
  }

 private:
  std::optional<detail::Batch> read() {
    if (!begun_ && reading_->begun.exchange(true)) {
      refuse("an ArrowStream can be read once only: to_arrow() returns another one for the rest of the list");
    }
    begun_ = true;
    const ExclusiveUse list(reading_->list);
    internal::require_open(list->bound.client);
    auto& flow = list->flow();
    // A thread other than the main thread checks for signals only if a hook has kept an exception: taking the GIL
    // could deadlock, because the GIL's holder may be waiting for the reader.
    const bool checks = on_main_thread() || hook_interrupt::is_kept();
    std::optional<detail::PagerCore> before;
    if (checks) before.emplace(flow.core());
    static_assert(std::is_nothrow_move_assignable_v<detail::PagerCore>);
    const auto take_back = [&]() noexcept {
      if (before) flow.core() = *std::move(before);
      batches_.clear();
    };
    std::optional<detail::Batch> batch;
    try {
      batch = batches_.read(flow);
    } catch (const Error& error) {
      if (before && error.code() == ErrorCode::interrupted) take_back();
      throw;
    }
    if (!batch) list->end();
    // Check for signals now: if Python ran a signal handler only after next() has returned, this batch would be lost.
    if (!checks || !batch) return batch;
    const Gil gil;
    if (!interruption_raised()) return batch;
    take_back();
    throw Error(ErrorCode::interrupted, "GET " + list->operation.path + ": interrupted");
  }

  ReadingPtr reading_;
  detail::BatchReader batches_;
  bool begun_ = false;
};

struct ArrowStream {
  ReadingPtr reading;
  int traverse(visitproc visit, void* arg) const {
    return reading.use_count() == 1 ? reading->list.traverse(visit, arg) : 0;
  }
};

py::object open_stream(const ArrowStream& self) {
  if (self.reading->begun) {
    refuse("an ArrowStream can be read once only: to_arrow() returns another one for the rest of the list");
  }
  return capsule(detail::export_stream(self.reading->columns, std::make_unique<ListBatches>(self.reading)));
}

py::object last_error(const ArrowStream& self) {
  std::optional<Error> error;
  {
    const std::lock_guard lock(self.reading->mutex);
    error = self.reading->error;
  }
  if (!error) return py::none();
  set_error(*error);
  return py::error_already_set().value();
}

// ---- Batches --------------------------------------------------------------------------------------------------------------

class NextBatch final : public ListJob {
 public:
  NextBatch(ListPtr list, ColumnsPtr columns, py::object reader = {})
      : ListJob(std::move(list), std::move(reader)), columns_(std::move(columns)) {}
  [[nodiscard]] bool has_enough() override { return flow().core().buffered(); }
  [[nodiscard]] py::object give() override {
    auto batch = without_gil([this] { return detail::take_batch(flow(), columns_); });
    if (!batch) raise_stop();
    return py::cast(*std::move(batch));
  }

 private:
  ColumnsPtr columns_;
};

using BatchReaderPtr = std::shared_ptr<detail::BatchReader>;

/// Joins pages until the batch is full. If reading a page fails, the batch ends before that page, and the next job
/// raises the error.
class NextJoinedBatch final : public ListJob {
 public:
  NextJoinedBatch(ListPtr list, BatchReaderPtr batches, py::object reader = {})
      : ListJob(std::move(list), std::move(reader)), batches_(std::move(batches)) {}
  [[nodiscard]] std::optional<Operation> next() override {
    return or_keep([this] { return ListJob::next(); });
  }
  [[nodiscard]] std::shared_ptr<PendingCall> proceed(LoopEngine& engine, const Client& client, py::handle loop,
                                                     const std::shared_ptr<Job>& self) override {
    return or_keep([&] { return ListJob::proceed(engine, client, loop, self); });
  }
  [[nodiscard]] bool has_enough() override {
    remember_position();
    return without_gil([this] { return batches_->fill(flow()); });
  }
  [[nodiscard]] py::object give() override {
    auto batch = without_gil([this] { return batches_->take(); });
    if (!batch) raise_stop();
    return py::cast(*std::move(batch));
  }

 private:
  template <typename Read>
  [[nodiscard]] std::invoke_result_t<Read> or_keep(const Read& read) {
    try {
      return read();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::interrupted) throw;
      if (batches_->keep()) return {};
      forget_position();  // so that the next job does not report the invalid item a second time
      throw;
    }
  }
  bool restore() noexcept override {
    if (!ListJob::restore()) return false;
    batches_->clear();
    return true;
  }

  BatchReaderPtr batches_;
};

struct BatchIteration : Iteration {
  BatchIteration(ListPtr shared, ColumnsPtr what, BatchReaderPtr joining)
      : Iteration(std::move(shared)), columns(std::move(what)), batches(std::move(joining)) {}
  template <typename... Reader>
  [[nodiscard]] py::object next(const char* name, const Reader&... reader) const {
    if (batches) return read<NextJoinedBatch>(list, name, batches, reader...);
    return read<NextBatch>(list, name, columns, reader...);
  }
  ColumnsPtr columns;
  BatchReaderPtr batches;  // joins pages to batches; null: each page is a batch
};
struct Batches : BatchIteration {
  using BatchIteration::BatchIteration;
};
struct AsyncBatches : BatchIteration {
  using BatchIteration::BatchIteration;
};

py::object schema_of(const detail::Columns& columns) { return capsule(detail::export_schema(columns)); }

void bind_stream(py::module_& module) {
  auto type = final_class<ArrowStream>(module, "ArrowStream", docs::about_arrow_stream, belongs_to_client);
  def<docs::arrow_stream_arrow_c_stream_signature>(
      type, docs::arrow_stream_arrow_c_stream, [](const ArrowStream& self, const Call& call) {
        static_cast<void>(parsed<docs::arrow_stream_arrow_c_stream_signature>().bind(call));
        return open_stream(self);
      });
  def<docs::arrow_stream_arrow_c_schema_signature>(
      type, docs::arrow_stream_arrow_c_schema,
      [](const ArrowStream& self) { return schema_of(*self.reading->columns); });
  type.def_property_readonly("error", &last_error, docs::arrow_stream_error);
  type.def("__repr__", [](const ArrowStream& /*self*/) { return "<ArrowStream>"; });
}

void bind_batch(py::module_& module) {
  auto type = final_class<detail::Batch>(module, "ArrowBatch", docs::about_arrow_batch, "make a table of it");
  def<docs::arrow_batch_arrow_c_array_signature>(
      type, docs::arrow_batch_arrow_c_array, [](const detail::Batch& self, const Call& call) {
        static_cast<void>(parsed<docs::arrow_batch_arrow_c_array_signature>().bind(call));
        return py::make_tuple(schema_of(self.columns()), capsule(self.export_array()));
      });
  def<docs::arrow_batch_arrow_c_stream_signature>(
      type, docs::arrow_batch_arrow_c_stream, [](const detail::Batch& self, const Call& call) {
        static_cast<void>(parsed<docs::arrow_batch_arrow_c_stream_signature>().bind(call));
        return capsule(self.export_stream());
      });
  def<docs::arrow_batch_arrow_c_schema_signature>(type, docs::arrow_batch_arrow_c_schema,
                                                  [](const detail::Batch& self) { return schema_of(self.columns()); });
  type.def_property_readonly("num_rows", &detail::Batch::rows, docs::arrow_batch_num_rows);
  type.def("__repr__",
           [](const detail::Batch& self) { return "<ArrowBatch num_rows=" + std::to_string(self.rows()) + '>'; });
}

}  // namespace

py::object make_arrow_stream(const ListPtr& list, py::handle fields) {
  list->refuse_second_reading();
  return py::cast(ArrowStream{std::make_shared<Reading>(list, columns_of(*list, fields))});
}

py::object make_batches(const ListPtr& list, py::handle fields, py::handle constants, py::handle rows) {
  list->refuse_second_reading();
  auto columns = columns_of(*list, fields, constants);
  BatchReaderPtr joining;
  if (given(rows)) {
    const auto most = size(rows, "rows");
    if (most == 0) refuse("rows is 0: pass 1 or more, or leave it out for a batch per page");
    joining = std::make_shared<detail::BatchReader>(columns, most);
  }
  if (list->bound.is_awaited()) return py::cast(AsyncBatches(list, std::move(columns), std::move(joining)));
  return py::cast(Batches(list, std::move(columns), std::move(joining)));
}

void bind_arrow(py::module_& module) {
  bind_stream(module);
  bind_batch(module);
  // Used by billcore.bulk and by the command line.
  module.def("_rows", [](const py::tuple& names, const py::list& rows) {
    std::vector<std::string> all;
    for (const auto name : names) all.emplace_back(utf8(name, "a name"));
    return detail::make_rows(all, scalars_of(all, rows));
  });
  module.def("_join", [](const py::list& batches) {
    std::vector<detail::Batch> all;
    for (const auto batch : batches) all.push_back(batch.cast<const detail::Batch&>());
    if (all.empty()) refuse("there are no batches");
    return without_gil([&all] { return detail::join(all); });
  });
  module.def("_lines", [](const detail::Batch& batch, std::string_view format) {
    using enum detail::LineFormat;
    if (format != "jsonl" && format != "csv" && format != "spreadsheet") {
      refuse("the format must be jsonl, csv or spreadsheet");
    }
    const auto lines = format == "jsonl" ? jsonl : format == "csv" ? csv : spreadsheet;
    return py::bytes(without_gil([&] { return detail::to_lines(batch, lines); }));
  });
  module.def("_columns", [](const detail::Batch& batch) {
    py::list names;
    for (const auto& name : detail::column_names(batch.columns())) names.append(name);
    return names;
  });
  const auto itself = [](py::object self) { return self; };
  constexpr const char* about = "Batches of a list; dropped before the end, the reading counts as stopped.";
  auto blocking = final_class<Batches>(module, "BatchIterator", about, belongs_to_client);
  blocking.def("__iter__", itself);
  def_next(blocking, [](const Batches& self) { return self.next("Pager.to_batches"); });
  final_class<AsyncBatches>(module, "AsyncBatchIterator", about, belongs_to_client)
      .def("__aiter__", itself)
      .def("__anext__",
           [](const py::object& self) { return held<AsyncBatches>(self.ptr()).next("AsyncPager.to_batches", self); });
  module.def("_empty", [](const Batches& batches) { return detail::make_empty_batch(batches.columns); });
}

}  // namespace billcore::python
