// Writes the rows of a batch as text: JSON Lines, or CSV.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/arrow_batch.hpp"
#include "arrow/arrow_columns.hpp"
#include "arrow/arrow_memory.hpp"
#include "base/encoding.hpp"
#include "billcore/arrow.hpp"

namespace billcore::detail {
namespace {

void append_number(std::string& out, std::int64_t number, std::size_t digits = 1) {
  std::array<char, 24> text{};
  const auto* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  const auto length = static_cast<std::size_t>(end - text.data());
  out.append(digits > length ? digits - length : 0, '0').append(text.data(), length);
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char each : text) {
    if (static_cast<unsigned char>(each) < 0x20) {
      encode_hex_text({&each, 1}, hex_digits, out += "\\u00");
      continue;
    }
    if (each == '"' || each == '\\') out += '\\';
    out += each;
  }
  out += '"';
}

/// Whether a spreadsheet takes a cell that begins with this text for a formula, also after quotes.
bool is_formula(std::string_view cell) {
  cell.remove_prefix(std::min(cell.find_first_not_of("\"'"), cell.size()));
  constexpr std::array<std::string_view, 8> begins{"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  return std::any_of(begins.begin(), begins.end(), [cell](std::string_view each) { return cell.starts_with(each); });
}

/// Puts a quote before each formula of the text. A spreadsheet that expects semicolons or tabs between cells ignores
/// the quotes around the text, so a formula may also follow one of these, or a line end.
std::string without_formulas(std::string_view text) {
  constexpr std::string_view blanks = "\t\r\n";
  std::string out;
  const auto first = text.find_first_not_of("\"'");
  if (first != std::string_view::npos && blanks.find(text[first]) != std::string_view::npos) out += '\'';
  bool begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins && is_formula(text.substr(i))) out += '\'';
    out += text[i];
    begins = text[i] == ';' || blanks.find(text[i]) != std::string_view::npos;
  }
  return out;
}

void append_csv_text(std::string& out, std::string_view text, LineFormat format) {
  if (format == LineFormat::spreadsheet) return append_csv_text(out, without_formulas(text), LineFormat::csv);
  out += '"';
  for (const char each : text) {
    if (each == '"') out += '"';
    out += each;
  }
  out += '"';
}

/// In JSON, line ends are white space: a string has them only as escapes.
std::string on_one_line(std::string_view json) {
  std::string out(json);
  std::replace_if(
      out.begin(), out.end(), [](char each) { return each == '\n' || each == '\r'; }, ' ');
  return out;
}

void append_time(std::string& out, std::int64_t micros) {
  const Instant at{std::chrono::microseconds(micros)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  const auto year = static_cast<int>(date.year());
  if (year < 0) out += '-';
  append_number(out, std::abs(year), 4);
  append_number(out += '-', static_cast<unsigned>(date.month()), 2);
  append_number(out += '-', static_cast<unsigned>(date.day()), 2);
  append_number(out += 'T', time.hours().count(), 2);
  append_number(out += ':', time.minutes().count(), 2);
  append_number(out += ':', time.seconds().count(), 2);
  append_number(out += '.', time.subseconds().count(), 6);
  out += 'Z';
}

void append_decimal(std::string& out, const std::uint8_t* bytes) {
  ArrowDecimal decimal{};
  ArrowDecimalInit(&decimal, 128, decimal_digits, decimal_scale);
  ArrowDecimalSetBytes(&decimal, bytes);
  ArrowBuffer digits{};
  ArrowBufferInit(&digits);
  check(ArrowDecimalAppendStringToBuffer(&decimal, &digits));
  std::string_view text(reinterpret_cast<const char*>(digits.data), static_cast<std::size_t>(digits.size_bytes));
  text = text.substr(0, text.find_last_not_of('0') + 1);
  out.append(text.substr(0, text.size() - (text.ends_with('.') ? 1 : 0)));
  ArrowBufferReset(&digits);
}

void append_cell(std::string& out, const ArrowArray& column, ColumnType type, std::size_t row, LineFormat format) {
  const auto* const valid = static_cast<const std::uint8_t*>(column.buffers[0]);
  if (valid != nullptr && ArrowBitGet(valid, static_cast<std::int64_t>(row)) == 0) {
    if (format == LineFormat::jsonl) out += "null";
    return;
  }
  const auto text = [&] {
    const auto* const ends = static_cast<const std::int32_t*>(column.buffers[1]) + row;
    return std::string_view(static_cast<const char*>(column.buffers[2]) + ends[0],
                            static_cast<std::size_t>(ends[1] - ends[0]));
  };
  switch (type) {
    case ColumnType::text:
    case ColumnType::id:
      return format == LineFormat::jsonl ? append_json_text(out, text()) : append_csv_text(out, text(), format);
    case ColumnType::json:
    case ColumnType::rest:
    case ColumnType::whole:
      if (format != LineFormat::jsonl) return append_csv_text(out, on_one_line(text()), format);
      out += on_one_line(text());
      return;
    case ColumnType::integer:
      return append_number(out, static_cast<const std::int64_t*>(column.buffers[1])[row]);
    case ColumnType::time:
      if (format == LineFormat::jsonl) out += '"';
      append_time(out, static_cast<const std::int64_t*>(column.buffers[1])[row]);
      if (format == LineFormat::jsonl) out += '"';
      return;
    case ColumnType::decimal:
      return append_decimal(out, static_cast<const std::uint8_t*>(column.buffers[1]) + row * decimal_bytes);
    case ColumnType::boolean:
      const auto* const bits = static_cast<const std::uint8_t*>(column.buffers[1]);
      out += ArrowBitGet(bits, static_cast<std::int64_t>(row)) != 0 ? "true" : "false";
  }
}

}  // namespace

std::string to_lines(const Batch& batch, LineFormat format) {
  const auto& columns = batch.columns().all();
  const bool json = format == LineFormat::jsonl;
  std::vector<std::string> before(columns.size());  // what is before the value of each column
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0 || json) before[i] += i > 0 ? ',' : '{';
    if (!json) continue;
    append_json_text(before[i], columns[i].name);
    before[i] += ':';
  }
  std::string out;
  const ArrowScope scope;
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows()); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      append_cell(out += before[i], *batch.array().children[i], columns[i].type, row, format);
    }
    if (json) out += '}';
    out += '\n';
  }
  return out;
}

}  // namespace billcore::detail
