// Lists as columns: what is left of a list as an Arrow C stream, for whatever reads one (polars, DuckDB, pyarrow, …).
//
// One record batch a page that has anything new on it, built when it is asked for; the pages behind it are on their way
// meanwhile, as for any Pager. Columns are the fields of the resource: int64 for integers (money in cents), bool, utf8 for
// texts, enumerations and ids (an integer's digits), timestamp[us, UTC] for times, decimal128(38, 18) for vat_rate, and JSON
// text as received for whatever is nested. Absent and null are null in every column; a value of another type is
// Error(decode), with its path. The column `raw`, whole items as JSON text, is there when it is named.
// Needs the target billcore::arrow. Service interface: Resources and their fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "billcore/model.hpp"
#include "billcore/pager.hpp"

// The Arrow C data and stream interfaces, https://arrow.apache.org/docs/format/CDataInterface.html
struct ArrowArray;
struct ArrowArrayStream;
struct ArrowSchema;

namespace billcore {

/// Columns by name, in this order; nothing: all fields. Error(invalid_argument) for a name that is no column of the
/// resource, for one that comes twice, and for none at all.
using ArrowFields = std::optional<std::vector<std::string>>;

namespace detail {

enum class Table : std::uint8_t { subscriptions, orders, products };
template <typename T>
inline constexpr Table table_of = Table::orders;
template <>
inline constexpr Table table_of<Subscription> = Table::subscriptions;
template <>
inline constexpr Table table_of<Product> = Table::products;

/// The columns that were chosen. Immutable.
class Columns;
[[nodiscard]] std::shared_ptr<const Columns> choose_columns(Table table, const ArrowFields& fields);
[[nodiscard]] std::vector<std::string> column_names(const Columns& columns);

/// One of the three structs on the heap, released with its memory.
struct ArrowDelete {
  void operator()(ArrowArray* array) const noexcept;
  void operator()(ArrowArrayStream* stream) const noexcept;
  void operator()(ArrowSchema* schema) const noexcept;
};
template <typename Struct>
using ArrowPtr = std::unique_ptr<Struct, ArrowDelete>;

[[nodiscard]] ArrowPtr<ArrowSchema> export_schema(const Columns& columns);

/// The records of one page. Immutable; whatever was made of it shares its memory. Threads: any.
class Batch {
 public:
  Batch(std::shared_ptr<const Columns> columns, std::shared_ptr<const ArrowArray> array) noexcept
      : columns_(std::move(columns)), array_(std::move(array)) {}
  [[nodiscard]] std::int64_t rows() const noexcept;
  [[nodiscard]] const Columns& columns() const noexcept { return *columns_; }
  [[nodiscard]] ArrowPtr<ArrowArray> export_array() const;
  [[nodiscard]] ArrowPtr<ArrowArrayStream> export_stream() const;

 private:
  std::shared_ptr<const Columns> columns_;
  std::shared_ptr<const ArrowArray> array_;
};

/// What is at hand of a page, as a batch; the pager has moved on then, but not if this throws.
[[nodiscard]] std::optional<Batch> take_batch(PageFlow& list, const std::shared_ptr<const Columns>& columns);

/// Where the batches of a stream come from.
class BatchSource {
 public:
  BatchSource() = default;
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;
  /// Nothing at the end. May throw: the reader of the stream is told in its way, and may ask again.
  [[nodiscard]] virtual std::optional<Batch> next() = 0;
};

[[nodiscard]] ArrowPtr<ArrowArrayStream> export_stream(std::shared_ptr<const Columns> columns,
                                                       std::unique_ptr<BatchSource> source);
void export_pager(const AnyPager& pager, Table table, const ArrowFields& fields, ArrowArrayStream* out);

}  // namespace detail

/// Makes `out`, whose release() is the caller's to call, the stream of what is left of the list. An error on the way is a
/// non-zero result of its get_next(), with Error::what() as its get_last_error(); the next get_next() asks for the same
/// page again. Released before the end, the reading counts as stopped. Threads: one at a time, with the pager.
template <typename T>
void export_arrow(const Pager<T>& pager, ArrowArrayStream* out, const ArrowFields& fields = std::nullopt) {
  detail::export_pager(pager, detail::table_of<T>, fields, out);
}

}  // namespace billcore
