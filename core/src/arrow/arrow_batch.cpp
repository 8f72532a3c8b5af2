// Builds record batches from pages, and the schema of the batches.
#include "arrow/arrow_batch.hpp"

#include <cerrno>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "arrow/arrow_columns.hpp"
#include "arrow/arrow_memory.hpp"
#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

template <typename Struct>
void release_and_delete(Struct* owned) noexcept {
  if (owned->release != nullptr) owned->release(owned);
  delete owned;
}

void set_type(ArrowSchema* schema, ColumnType type) {
  switch (type) {
    case ColumnType::integer:
      return check(ArrowSchemaSetType(schema, NANOARROW_TYPE_INT64));
    case ColumnType::boolean:
      return check(ArrowSchemaSetType(schema, NANOARROW_TYPE_BOOL));
    case ColumnType::time:
      return check(ArrowSchemaSetTypeDateTime(schema, NANOARROW_TYPE_TIMESTAMP, NANOARROW_TIME_UNIT_MICRO, "UTC"));
    case ColumnType::decimal:
      return check(ArrowSchemaSetTypeDecimal(schema, NANOARROW_TYPE_DECIMAL128, decimal_digits, decimal_scale));
    case ColumnType::text:
    case ColumnType::id:
    case ColumnType::json:
    case ColumnType::rest:
    case ColumnType::whole:
      return check(ArrowSchemaSetType(schema, NANOARROW_TYPE_STRING));
  }
}

[[nodiscard]] ArrowErrorCode append_text(ArrowArray* column, std::string_view text) {
  return ArrowArrayAppendString(column, {text.data(), static_cast<std::int64_t>(text.size())});
}

[[nodiscard]] ArrowErrorCode append_decimal(ArrowArray* column, const Value& value, std::string_view text) {
  static_cast<void>(value.real());  // throws if `value` is not a number
  const auto digits = scaled_digits(text);
  if (!digits) {
    throw value_error(ErrorCode::out_of_range, value.path(), "has more digits than decimal128(38, 18) holds");
  }
  ArrowDecimal decimal{};
  ArrowDecimalInit(&decimal, 128, decimal_digits, decimal_scale);
  check(ArrowDecimalSetDigits(&decimal, {digits->data(), static_cast<std::int64_t>(digits->size())}));
  return ArrowArrayAppendDecimal(column, &decimal);
}

// Appends a cell with a value of the kind `what`, which is not null. The fast paths read the node directly; for an
// unexpected type, the checked readers of Value throw the error.
[[nodiscard]] ArrowErrorCode append(ArrowArray* column, ColumnType type, const Cell& cell, Value::Kind what,
                                    const std::shared_ptr<const Document>& document) {
  const bool is_string = what == Value::Kind::string;
  switch (type) {
    case ColumnType::text:
      return append_text(column, is_string ? text(cell.node) : Value(document, cell.node).text());
    case ColumnType::id:
      if (is_string) return append_text(column, text(cell.node));
      return append_text(column, read_id(Value(document, cell.node)).text());
    case ColumnType::integer: {
      std::int64_t number = 0;
      if (!int64(cell.node, number)) number = Value(document, cell.node).integer();
      return ArrowArrayAppendInt(column, number);
    }
    case ColumnType::boolean:
      return ArrowArrayAppendInt(column, Value(document, cell.node).boolean() ? 1 : 0);
    case ColumnType::time:
      return ArrowArrayAppendInt(column, read_time(Value(document, cell.node)).at.time_since_epoch().count());
    case ColumnType::decimal:
      return append_decimal(column, Value(document, cell.node), cell.text);
    case ColumnType::json:
    case ColumnType::rest:
    case ColumnType::whole:
      return append_text(column, cell.text);
  }
  return EINVAL;
}

void append_scalar(ArrowArray* column, const ArrowScalar& value, std::int64_t rows = 1) {
  if (const auto* words = std::get_if<std::string>(&value)) {
    for (std::int64_t i = 0; i < rows; ++i) check(append_text(column, *words));
    return;
  }
  if (const auto* at = std::get_if<std::optional<Instant>>(&value)) {
    if (!*at) return check(ArrowArrayAppendNull(column, rows));
    const std::int64_t micros = (*at)->time_since_epoch().count();
    for (std::int64_t i = 0; i < rows; ++i) check(ArrowArrayAppendInt(column, micros));
    return;
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  const auto whole = number != nullptr ? *number : std::int64_t{std::get<bool>(value)};
  for (std::int64_t i = 0; i < rows; ++i) check(ArrowArrayAppendInt(column, whole));
}

/// Appends the items of a page. Appends adjacent nulls of a column in one call, because many columns have only nulls.
void append_items(ArrowArray** children, const Columns& columns, const PageData& page) {
  const auto chosen = columns.chosen();
  std::vector<std::int64_t> nulls(chosen.size());
  CellFinder finder(columns);
  for (const auto* item : page.items) {
    const auto cells = finder.find(*page.document, item);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto what = cells[i].node == nullptr ? Value::Kind::null : kind(cells[i].node);
      if (what == Value::Kind::null) {
        ++nulls[i];
        continue;
      }
      if (nulls[i] > 0) check(ArrowArrayAppendNull(children[i], std::exchange(nulls[i], 0)));
      check(append(children[i], chosen[i].type, cells[i], what, page.document));
    }
  }
  for (std::size_t i = 0; i < nulls.size(); ++i) check(ArrowArrayAppendNull(children[i], nulls[i]));
}

/// An array of `rows` rows with these columns. The function `append` appends all rows to the arrays of the columns.
template <typename Append>
std::shared_ptr<const ArrowArray> build(const Columns& columns, std::int64_t rows, const Append& append) {
  const auto schema = export_schema(columns);
  auto out = make_empty<ArrowArray>();
  ArrowScope scope;
  ArrowArray made{};
  check(ArrowArrayInitFromSchema(&made, schema.get(), nullptr));
  check(ArrowArrayStartAppending(&made));
  check(ArrowArrayReserve(&made, rows));
  append(made.children);
  made.length = rows;
  check(ArrowArrayFinishBuildingDefault(&made, nullptr));
  scope.keep();
  ArrowArrayMove(&made, out.get());
  return out;
}

/// Borrows the buffers of another array and keeps that array alive. Each child holds a reference of its own, because a
/// consumer may move a child out of its parent.
struct SharedArray {
  std::shared_ptr<const ArrowArray> whole;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void release_shared(ArrowArray* array) noexcept {
  const std::unique_ptr<SharedArray> own(static_cast<SharedArray*>(array->private_data));
  for (auto& child : own->children) {
    if (child.release != nullptr) child.release(&child);
  }
  array->release = nullptr;
}

void share(const std::shared_ptr<const ArrowArray>& whole, const ArrowArray& from, ArrowArray* out) {
  auto own = std::make_unique<SharedArray>();
  own->whole = whole;
  const auto count = static_cast<std::size_t>(from.n_children);
  own->children.reserve(count);
  own->pointers.reserve(count);
  ArrowArray made = from;  // the copy points to the same buffers
  made.release = &release_shared;
  made.private_data = own.get();
  made.children = nullptr;
  *out = made;
  auto* const owner = own.release();
  try {
    for (std::size_t i = 0; i < count; ++i) {
      owner->children.push_back({});
      share(whole, *from.children[i], &owner->children.back());
      owner->pointers.push_back(&owner->children.back());
    }
  } catch (...) {
    out->release(out);
    throw;
  }
  if (count > 0) out->children = owner->pointers.data();
}

}  // namespace

void check(ArrowErrorCode code) {
  if (code == NANOARROW_OK) return;
  if (code == ENOMEM) throw std::bad_alloc();
  throw Error(ErrorCode::decode,
              "a page does not fit into Arrow columns: it has more than 2 GiB of text in one of them");
}

void ArrowDelete::operator()(ArrowArray* array) const noexcept { release_and_delete(array); }
void ArrowDelete::operator()(ArrowArrayStream* stream) const noexcept { release_and_delete(stream); }
void ArrowDelete::operator()(ArrowSchema* schema) const noexcept { release_and_delete(schema); }

ArrowPtr<ArrowSchema> export_schema(const Columns& columns) {
  const auto& chosen = columns.all();
  auto out = make_empty<ArrowSchema>();
  ArrowScope scope;
  ArrowSchema made{};
  ArrowSchemaInit(&made);
  check(ArrowSchemaSetTypeStruct(&made, static_cast<std::int64_t>(chosen.size())));
  made.flags = 0;  // not nullable: a record is never null
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    set_type(made.children[i], chosen[i].type);
    check(ArrowSchemaSetName(made.children[i], std::string(chosen[i].name).c_str()));
  }
  scope.keep();
  ArrowSchemaMove(&made, out.get());
  return out;
}

std::int64_t Batch::rows() const noexcept { return array_->length; }

ArrowPtr<ArrowArray> Batch::export_array() const {
  auto out = make_empty<ArrowArray>();
  share(array_, *array_, out.get());
  return out;
}

Batch make_batch(std::shared_ptr<const Columns> columns, const PageData& page) {
  const auto rows = static_cast<std::int64_t>(page.items.size());
  auto array = build(*columns, rows, [&](ArrowArray** children) {
    append_items(children, *columns, page);
    children += columns->chosen().size();
    for (const auto& constant : columns->constants()) append_scalar(*children++, constant.value, rows);
  });
  return {std::move(columns), std::move(array)};
}

Batch make_empty_batch(std::shared_ptr<const Columns> columns) {
  auto array = build(*columns, 0, [](ArrowArray** /*children*/) {});
  return {std::move(columns), std::move(array)};
}

Batch make_rows(const std::vector<std::string>& names, const std::vector<std::vector<ArrowScalar>>& rows) {
  std::vector<ArrowConstant> first;
  first.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) first.push_back({names[i], rows.at(0).at(i)});
  auto columns = std::make_shared<const Columns>(std::span<const Column>(), std::vector<Column>(), std::move(first));
  auto array = build(*columns, static_cast<std::int64_t>(rows.size()), [&](ArrowArray** children) {
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (row.at(i).index() != rows[0][i].index()) {
          throw Error(ErrorCode::invalid_argument, names[i] + " has values of several types: pass one type");
        }
        append_scalar(children[i], row[i]);
      }
    }
  });
  return {std::move(columns), std::move(array)};
}

}  // namespace billcore::detail
