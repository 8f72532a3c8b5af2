// Joins batches by copying their buffers.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>

#include "arrow/arrow_batch.hpp"
#include "arrow/arrow_columns.hpp"
#include "arrow/arrow_memory.hpp"
#include "billcore/arrow.hpp"
#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

using Parts = std::span<const ArrowArray* const>;

const std::uint8_t* bits_of(const ArrowArray& part, int buffer) noexcept {
  return static_cast<const std::uint8_t*>(part.buffers[buffer]);
}

void append_bits(ArrowBitmap* to, const std::uint8_t* bits, std::int64_t count) {
  check(ArrowBitmapReserve(to, count));
  if (bits == nullptr) return ArrowBitmapAppendUnsafe(to, 1, count);  // without a bitmap, no value is null
  for (std::int64_t i = 0; i < count; ++i) {
    ArrowBitmapAppendUnsafe(to, static_cast<std::uint8_t>(ArrowBitGet(bits, i)), 1);
  }
}

void join_nulls(Parts parts, ArrowArray* out) {
  for (const auto* part : parts) {
    out->length += part->length;
    out->null_count += part->null_count;
  }
  if (out->null_count == 0) return;
  auto* const valid = ArrowArrayValidityBitmap(out);
  for (const auto* part : parts) append_bits(valid, bits_of(*part, 0), part->length);
}

void join_bits(Parts parts, ArrowArray* out) {
  ArrowBitmap bits;
  ArrowBitmapInit(&bits);
  for (const auto* part : parts) append_bits(&bits, bits_of(*part, 1), part->length);
  ArrowBufferMove(&bits.buffer, ArrowArrayBuffer(out, 1));
}

void join_fixed(Parts parts, std::int64_t width, ArrowArray* out) {
  auto* const to = ArrowArrayBuffer(out, 1);
  check(ArrowBufferReserve(to, out->length * width));
  for (const auto* part : parts) ArrowBufferAppendUnsafe(to, part->buffers[1], part->length * width);
}

void join_texts(Parts parts, ArrowArray* out) {
  const auto offsets_of = [](const ArrowArray& part) { return static_cast<const std::int32_t*>(part.buffers[1]); };
  const auto bytes_of = [&](const ArrowArray& part) {
    return part.length == 0 ? std::int64_t{0} : std::int64_t{offsets_of(part)[part.length]};
  };
  std::int64_t bytes = 0;
  for (const auto* part : parts) bytes += bytes_of(*part);
  if (bytes > std::numeric_limits<std::int32_t>::max()) check(EOVERFLOW);
  auto* const offsets = ArrowArrayBuffer(out, 1);
  auto* const texts = ArrowArrayBuffer(out, 2);
  offsets->size_bytes = 0;
  check(ArrowBufferReserve(offsets, (out->length + 1) * std::int64_t{sizeof(std::int32_t)}));
  check(ArrowBufferReserve(texts, bytes));
  const std::int32_t zero = 0;
  ArrowBufferAppendUnsafe(offsets, &zero, sizeof zero);
  auto* to = reinterpret_cast<std::int32_t*>(offsets->data) + 1;
  for (const auto* part : parts) {
    const auto* const from = offsets_of(*part);
    const auto begin = static_cast<std::int32_t>(texts->size_bytes);
    for (std::int64_t row = 1; row <= part->length; ++row) *to++ = from[row] + begin;
    if (bytes_of(*part) > 0) ArrowBufferAppendUnsafe(texts, part->buffers[2], bytes_of(*part));
  }
  offsets->size_bytes = (out->length + 1) * std::int64_t{sizeof(std::int32_t)};
}

bool same_columns(const Columns& left, const Columns& right) {
  return std::equal(
      left.all().begin(), left.all().end(), right.all().begin(), right.all().end(),
      [](const Column& one, const Column& other) { return one.name == other.name && one.type == other.type; });
}

void join_column(Parts parts, ColumnType type, ArrowArray* out) {
  join_nulls(parts, out);
  switch (type) {
    case ColumnType::integer:
    case ColumnType::time:
      return join_fixed(parts, sizeof(std::int64_t), out);
    case ColumnType::decimal:
      return join_fixed(parts, decimal_bytes, out);
    case ColumnType::boolean:
      return join_bits(parts, out);
    case ColumnType::text:
    case ColumnType::id:
    case ColumnType::json:
    case ColumnType::rest:
    case ColumnType::whole:
      return join_texts(parts, out);
  }
}

}  // namespace

Batch join(const std::vector<Batch>& batches) {
  if (batches.size() == 1) return batches.front();
  const auto& columns = batches.front().columns();
  for (const auto& batch : batches) {
    if (!same_columns(batch.columns(), columns)) {
      throw Error(ErrorCode::invalid_argument, "batches with different columns cannot be joined");
    }
  }
  const auto schema = export_schema(columns);
  auto out = make_empty<ArrowArray>();
  std::vector<const ArrowArray*> parts(batches.size());
  ArrowScope scope;
  ArrowArray made{};
  check(ArrowArrayInitFromSchema(&made, schema.get(), nullptr));
  check(ArrowArrayStartAppending(&made));
  for (const auto& batch : batches) made.length += batch.rows();
  for (std::size_t i = 0; i < columns.all().size(); ++i) {
    for (std::size_t part = 0; part < batches.size(); ++part) parts[part] = batches[part].array().children[i];
    join_column(parts, columns.all()[i].type, made.children[i]);
  }
  check(ArrowArrayFinishBuildingDefault(&made, nullptr));
  scope.keep();
  ArrowArrayMove(&made, out.get());
  return {batches.front().shared_columns(), std::shared_ptr<const ArrowArray>(std::move(out))};
}

}  // namespace billcore::detail
