// Exports the remaining items of a list as an Arrow C stream, which polars, DuckDB, pyarrow and others can read.
//
// A record batch is built when the stream's reader requests it; later pages are prefetched, as for any Pager. The first
// batch has the records of one page. A later batch joins at most as many pages as all earlier batches together, and at
// most 8,192 records; a page with more records is a batch of its own. Columns are the fields of the resource: int64 for
// integers (money in cents), bool, utf8 for texts, enumerations and ids (an integer id as its digits), timestamp[us,
// UTC] for times, decimal128(38, 18) for vat_rate, and JSON text as received for nested values. A field that is absent
// or null becomes null; a value whose type does not match its column throws Error(decode) with the value's path. The
// column `more` has the members that this version does not know, as a JSON object; it is null if there are none. Signed
// URLs of the billing portal (update_card_url, invoices_url, cancel_url) and the column `raw` (each whole item as JSON
// text) are included only when the caller names them. Unless the caller names such a URL, "[redacted]" in `more` takes
// the place of each text with an absolute URL that has a query. Needs the target billcore::arrow. Service interface:
// Resources and their fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "billcore/detail/table.hpp"
#include "billcore/model.hpp"
#include "billcore/pager.hpp"

// The Arrow C data and stream interfaces, https://arrow.apache.org/docs/format/CDataInterface.html
struct ArrowArray;
struct ArrowArrayStream;
struct ArrowSchema;

namespace billcore {

/// Column names, in output order; nullopt: all fields but the signed URLs, then `more`. A name that is not a column of
/// the resource, a repeated name, or an empty list of names gives Error(invalid_argument).
using ArrowFields = std::optional<std::vector<std::string>>;

/// A value for a column of the type utf8, int64, bool or timestamp; only a time can be null (nullopt).
using ArrowScalar = std::variant<std::string, std::int64_t, bool, std::optional<Instant>>;

/// A column with the same value in every row. Constant columns follow the columns of the resource.
struct ArrowConstant {
  std::string name;
  ArrowScalar value;
};

namespace detail {

/// The selected columns. Immutable.
class Columns;
[[nodiscard]] std::shared_ptr<const Columns> choose_columns(Table table, const ArrowFields& fields,
                                                            std::vector<ArrowConstant> constants = {});
[[nodiscard]] std::vector<std::string> column_names(const Columns& columns);

/// Deleter for a heap-allocated Arrow struct: calls its release(), then frees the memory.
struct ArrowDelete {
  void operator()(ArrowArray* array) const noexcept;
  void operator()(ArrowArrayStream* stream) const noexcept;
  void operator()(ArrowSchema* schema) const noexcept;
};
template <typename Struct>
using ArrowPtr = std::unique_ptr<Struct, ArrowDelete>;

[[nodiscard]] ArrowPtr<ArrowSchema> export_schema(const Columns& columns);

/// The records of one page, or of several pages joined by BatchReader. Immutable; exported arrays and streams share
/// its memory. Threads: any.
class Batch {
 public:
  Batch(std::shared_ptr<const Columns> columns, std::shared_ptr<const ArrowArray> array) noexcept
      : columns_(std::move(columns)), array_(std::move(array)) {}
  [[nodiscard]] std::int64_t rows() const noexcept;
  [[nodiscard]] const Columns& columns() const noexcept { return *columns_; }
  [[nodiscard]] const std::shared_ptr<const Columns>& shared_columns() const noexcept { return columns_; }
  [[nodiscard]] const ArrowArray& array() const noexcept { return *array_; }
  [[nodiscard]] ArrowPtr<ArrowArray> export_array() const;
  [[nodiscard]] ArrowPtr<ArrowArrayStream> export_stream() const;

 private:
  std::shared_ptr<const Columns> columns_;
  std::shared_ptr<const ArrowArray> array_;
};

/// Makes the batch of a page. Throws Error(decode) with the path of a value whose type differs from the type of its
/// column.
[[nodiscard]] Batch make_batch(std::shared_ptr<const Columns> columns, const PageData& page);

/// A batch without rows.
[[nodiscard]] Batch make_empty_batch(std::shared_ptr<const Columns> columns);

/// A batch of rows, whose columns have these names and the types of the values in the first row. There must be a row,
/// and each row must have a value for each name. Throws Error(invalid_argument) if a column has values of several types.
[[nodiscard]] Batch make_rows(const std::vector<std::string>& names, const std::vector<std::vector<ArrowScalar>>& rows);

/// One batch with the rows of all `batches`, in their order. `batches` must not be empty. Throws Error(invalid_argument)
/// if the names or types of the columns differ; the values of constant columns may differ.
[[nodiscard]] Batch join(const std::vector<Batch>& batches);

/// How to_lines() writes a row. jsonl: an object with the columns in their order; text as JSON strings, decimals as
/// exact numbers, nested values as received, except that their line ends become spaces. csv: RFC 4180 without a header
/// line; text and nested values are always quoted, and null is an empty field, so that a reader can tell null from an
/// empty text. spreadsheet: as csv, with a quote (') before what a spreadsheet would take for a formula in a text or a
/// nested value: = + - @, also full-width, at its start or after ; tab CR LF, and a tab, CR or LF at its start. Removing
/// these quotes gives the text again. Times are ISO 8601 in UTC with six digits after the point, such as
/// 2025-04-25T12:00:00.000000Z. Each line ends with LF.
enum class LineFormat : std::uint8_t { jsonl, csv, spreadsheet };

[[nodiscard]] std::string to_lines(const Batch& batch, LineFormat format);

/// Takes the buffered items of a page as a batch and advances the pager. If take_batch() throws, the pager does not
/// advance.
[[nodiscard]] std::optional<Batch> take_batch(PageFlow& list, const std::shared_ptr<const Columns>& columns);

/// Joins the pages of a list into batches. If a page fails after earlier pages were joined, read() returns those
/// pages as a batch, and the next read() throws the error. Threads: one at a time.
class BatchReader {
 public:
  static constexpr std::size_t usual_rows = 8192;

  /// Without `rows`, each batch may be larger than the one before: see the comment at the head of this file. With
  /// `rows`, each batch has as many pages as fit into that number of rows, and at least one page.
  explicit BatchReader(std::shared_ptr<const Columns> columns, std::optional<std::size_t> rows = std::nullopt) noexcept
      : columns_(std::move(columns)), rows_(rows.value_or(usual_rows)), grows_(!rows) {}

  /// The next batch of a list with a blocking source; nullopt at the end.
  [[nodiscard]] std::optional<Batch> read(PageFlow& list);

  /// The steps of read(): fill() adds the buffered page to the batch and returns whether the batch is full. keep()
  /// stores the exception that is being handled, which is thrown in place of the next batch; it returns false if the
  /// present batch is still empty. take() returns the present batch.
  [[nodiscard]] bool fill(PageFlow& list);
  [[nodiscard]] bool keep() noexcept;
  [[nodiscard]] std::optional<Batch> take();
  void clear() noexcept;

 private:
  std::shared_ptr<const Columns> columns_;
  std::size_t rows_;
  bool grows_;
  std::size_t pages_ = 0;  // number of pages in the previous batches
  std::vector<Batch> joined_;
  std::size_t joined_rows_ = 0;
  std::size_t joined_bytes_ = 0;
  std::exception_ptr error_;
};

/// Supplies the batches of a stream.
class BatchSource {
 public:
  BatchSource() = default;
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;
  /// The next batch; nullopt at the end. If next() throws, the reader of the stream gets an error code and may call
  /// again.
  [[nodiscard]] virtual std::optional<Batch> next() = 0;
};

[[nodiscard]] ArrowPtr<ArrowArrayStream> export_stream(std::shared_ptr<const Columns> columns,
                                                       std::unique_ptr<BatchSource> source);
void export_pager(const AnyPager& pager, Table table, const ArrowFields& fields, ArrowArrayStream* out);

}  // namespace detail

/// Fills `out` with a stream of the list's remaining items; the caller must call `out->release`. On an error get_next()
/// returns non-zero and get_last_error() returns Error::what(); the next get_next() requests the failed page again.
/// Releasing the stream before the end stops the list. Threads: one thread at a time may use the stream and the pager.
template <typename T>
void export_arrow(const Pager<T>& pager, ArrowArrayStream* out, const ArrowFields& fields = std::nullopt) {
  detail::export_pager(pager, detail::table_of<T>, fields, out);
}

}  // namespace billcore
