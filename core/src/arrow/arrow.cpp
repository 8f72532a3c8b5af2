// Arrow streams that read lists as record batches.
#include "billcore/arrow.hpp"

#include <cerrno>
#include <new>
#include <utility>

#include "arrow/arrow_batch.hpp"
#include "billcore/detail/libraries.hpp"
#include "billcore/error.hpp"
#include "billcore/internal.hpp"
#include "paging/page_flow.hpp"

namespace billcore::detail {
namespace {

struct StreamState {
  std::shared_ptr<const Columns> columns;
  std::unique_ptr<BatchSource> source;
  std::string problem;
  const char* shown = nullptr;

  int failed(int code, const char* text) noexcept try {
    problem = text;
    shown = problem.c_str();
    return code;
  } catch (...) {
    shown = "out of memory";
    return ENOMEM;
  }

  /// Runs `f` and returns 0; if `f` throws, stores the error text and returns an errno value.
  template <typename F>
  int guard(F&& f) noexcept {
    shown = nullptr;
    try {
      f();
      return 0;
    } catch (const Error& error) {
      // Readers of Arrow streams interpret EINVAL as invalid data.
      const auto code = error.code();
      const bool data = code == ErrorCode::decode || code == ErrorCode::out_of_range || code == ErrorCode::pagination ||
                        code == ErrorCode::invalid_argument;
      return failed(data ? EINVAL : code == ErrorCode::interrupted ? EINTR : EIO, error.what());
    } catch (const std::bad_alloc&) {
      shown = "out of memory";
      return ENOMEM;
    } catch (const std::exception& error) {
      return failed(EIO, error.what());
    } catch (...) {
      return failed(EIO, "an unknown error");
    }
  }
};

StreamState& state_of(ArrowArrayStream* stream) noexcept { return *static_cast<StreamState*>(stream->private_data); }

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  auto& state = state_of(stream);
  out->release = nullptr;
  return state.guard([&] { ArrowSchemaMove(export_schema(*state.columns).get(), out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  auto& state = state_of(stream);
  out->release = nullptr;
  return state.guard([&] {
    if (const auto batch = state.source->next()) ArrowArrayMove(batch->export_array().get(), out);
  });
}

const char* get_last_error(ArrowArrayStream* stream) noexcept { return state_of(stream).shown; }

void release_stream(ArrowArrayStream* stream) noexcept {
  delete &state_of(stream);
  stream->release = nullptr;
}

/// Supplies the remaining pages of a blocking pager as batches.
class PagerSource final : public BatchSource {
 public:
  PagerSource(std::shared_ptr<PageFlow> list, std::shared_ptr<const Columns> columns)
      : list_(std::move(list)), columns_(std::move(columns)) {}
  ~PagerSource() override {
    if (begun_) list_->stop();
  }
  PagerSource(const PagerSource&) = delete;
  PagerSource& operator=(const PagerSource&) = delete;
  [[nodiscard]] std::optional<Batch> next() override {
    begun_ = true;
    while (!list_->core().buffered()) {
      if (list_->advance() != Step::taken) return std::nullopt;
    }
    return take_batch(*list_, columns_);
  }

 private:
  std::shared_ptr<PageFlow> list_;
  std::shared_ptr<const Columns> columns_;
  bool begun_ = false;
};

class OneBatch final : public BatchSource {
 public:
  explicit OneBatch(Batch batch) : batch_(std::move(batch)) {}
  [[nodiscard]] std::optional<Batch> next() override { return std::exchange(batch_, std::nullopt); }

 private:
  std::optional<Batch> batch_;
};

}  // namespace

ArrowPtr<ArrowArrayStream> Batch::export_stream() const {
  return detail::export_stream(columns_, std::make_unique<OneBatch>(*this));
}

std::optional<Batch> take_batch(PageFlow& list, const std::shared_ptr<const Columns>& columns) {
  auto& core = list.core();
  if (!core.buffered()) return std::nullopt;
  const auto page = core.rest_of_page();
  auto out = make_batch(columns, *page);
  core.skip_page();
  return out;
}

ArrowPtr<ArrowArrayStream> export_stream(std::shared_ptr<const Columns> columns, std::unique_ptr<BatchSource> source) {
  auto state = std::make_unique<StreamState>();
  state->columns = std::move(columns);
  state->source = std::move(source);
  auto out = make_empty<ArrowArrayStream>();
  *out = {&get_schema, &get_next, &get_last_error, &release_stream, state.release()};
  return out;
}

LinkedLibrary linked_arrow() { return {"nanoarrow", NANOARROW_VERSION}; }

void export_pager(const AnyPager& pager, Table table, const ArrowFields& fields, ArrowArrayStream* out) {
  auto columns = choose_columns(table, fields);
  auto source = std::make_unique<PagerSource>(internal::Access::flow(pager), columns);
  ArrowArrayStreamMove(export_stream(std::move(columns), std::move(source)).get(), out);
}

}  // namespace billcore::detail
