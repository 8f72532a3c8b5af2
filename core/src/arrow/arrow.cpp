// Arrow streams that read lists as record batches.
#include "billcore/arrow.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "arrow/arrow_batch.hpp"
#include "arrow/arrow_columns.hpp"
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
      : list_(std::move(list)), reader_(std::move(columns)) {}
  ~PagerSource() override {
    if (begun_) list_->stop();
  }
  PagerSource(const PagerSource&) = delete;
  PagerSource& operator=(const PagerSource&) = delete;
  [[nodiscard]] std::optional<Batch> next() override {
    begun_ = true;
    return reader_.read(*list_);
  }

 private:
  std::shared_ptr<PageFlow> list_;
  BatchReader reader_;
  bool begun_ = false;
};

// A batch takes no further page once its pages have this many bytes. The limit of 64 MiB bounds the memory of a batch,
// and keeps every text column below Arrow's limit of 2 GiB.
constexpr std::size_t most_bytes = std::size_t{64} << 20;

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
  try {
    auto out = make_batch(columns, *page);
    core.skip_page();
    return out;
  } catch (const Error& error) {
    throw core.about_item(error);
  }
}

bool BatchReader::fill(PageFlow& list) {
  if (error_ && joined_.empty()) std::rethrow_exception(std::exchange(error_, nullptr));
  if (error_) return true;
  const auto most_pages = grows_ ? std::max<std::size_t>(pages_, 1) : rows_;
  const auto is_full = [&] {
    return joined_rows_ >= rows_ || joined_.size() >= most_pages || joined_bytes_ >= most_bytes;
  };
  const auto more = list.core().left();
  if (more == 0 || is_full()) return is_full();
  if (!joined_.empty() && joined_rows_ + more > rows_) return true;
  joined_.reserve(joined_.size() + 1);
  const auto bytes = list.core().page_bytes();
  auto batch = take_batch(list, columns_);
  if (!batch) return false;
  joined_rows_ += static_cast<std::size_t>(batch->rows());
  joined_bytes_ += bytes + static_cast<std::size_t>(batch->rows()) * batch->columns().constant_bytes();
  joined_.push_back(*std::move(batch));
  return is_full();
}

bool BatchReader::keep() noexcept {
  if (joined_.empty()) return false;
  error_ = std::current_exception();
  return true;
}

std::optional<Batch> BatchReader::take() {
  if (joined_.empty()) return std::nullopt;
  auto out = join(joined_);
  pages_ += joined_.size();
  const auto error = std::exchange(error_, nullptr);
  clear();
  error_ = error;
  return out;
}

void BatchReader::clear() noexcept {
  joined_.clear();
  joined_rows_ = joined_bytes_ = 0;
  error_ = nullptr;
}

std::optional<Batch> BatchReader::read(PageFlow& list) {
  try {
    while (!fill(list) && list.advance() == Step::taken) continue;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted || !keep()) throw;  // after an interruption, keep the joined pages
  } catch (...) {
    if (!keep()) throw;
  }
  return take();
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
