#include "arrow/arrow_columns.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "arrow/column_table.hpp"
#include "billcore/error.hpp"
#include "json/json_scan.hpp"

namespace billcore::detail {
namespace {

using enum ColumnType;

using column_table::plural;

[[noreturn]] void refuse_name(Table table, std::size_t place) {
  std::string text = "fields[" + std::to_string(place) + "] is not a column of " + plural(table) + ": there are ";
  const auto all = columns_of(table);
  for (const auto& column : all.first(all.size() - 1)) text.append(column.name) += ", ";
  throw Error(ErrorCode::invalid_argument, text.append("and raw (whole items as JSON text)"));
}

// The column type of each alternative of ArrowConstant, in their order.
constexpr std::array constant_types{text, integer, boolean};

void refuse_constant(std::span<const Column> chosen, std::span<const ArrowConstant> earlier,
                     const ArrowConstant& constant) {
  const auto has_name = [&constant](const auto& other) { return other.name == constant.name; };
  if (constant.name.empty() || constant.name.find('\0') != std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "constants has a name that is empty or contains NUL: name the column");
  }
  if (std::any_of(chosen.begin(), chosen.end(), has_name)) {
    throw Error(ErrorCode::invalid_argument,
                "constants has " + constant.name + ", which is one of the fields: rename it");
  }
  if (std::any_of(earlier.begin(), earlier.end(), has_name)) {
    throw Error(ErrorCode::invalid_argument, "constants has " + constant.name + " twice: name each column once");
  }
}

std::shared_ptr<const Columns> with_constants(std::vector<Column> chosen, std::vector<ArrowConstant> constants) {
  for (std::size_t i = 0; i < constants.size(); ++i) {
    refuse_constant(chosen, std::span(constants).first(i), constants[i]);
  }
  return std::make_shared<const Columns>(std::move(chosen), std::move(constants));
}

bool has_text(ColumnType type) noexcept { return type == json || type == decimal || type == whole; }

}  // namespace

std::span<const Column> columns_of(Table table) noexcept { return column_table::columns_of(table); }

Columns::Columns(std::vector<Column> chosen, std::vector<ArrowConstant> constants)
    : chosen_(chosen.size()), constants_(std::move(constants)), all_(std::move(chosen)) {
  for (const auto& constant : constants_) {
    all_.push_back({constant.name, constant_types.at(constant.value.index())});
    if (const auto* value = std::get_if<std::string>(&constant.value)) constant_bytes_ += value->size();
  }
}

std::shared_ptr<const Columns> choose_columns(Table table, const ArrowFields& fields,
                                              std::vector<ArrowConstant> constants) {
  const auto all = columns_of(table);
  if (!fields) {
    const auto but_raw = all.first(all.size() - 1);
    return with_constants({but_raw.begin(), but_raw.end()}, std::move(constants));
  }
  if (fields->empty())
    throw Error(ErrorCode::invalid_argument, "fields is empty: name a column, or leave it out for all");
  std::vector<Column> chosen;
  for (const auto& name : *fields) {
    const auto same = [&name](const Column& column) { return column.name == name; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) refuse_name(table, chosen.size());
    if (std::any_of(chosen.begin(), chosen.end(), same)) {
      throw Error(ErrorCode::invalid_argument, "fields has " + name + " twice: name each column once");
    }
    chosen.push_back(*found);
  }
  return with_constants(std::move(chosen), std::move(constants));
}

std::vector<std::string> column_names(const Columns& columns) {
  std::vector<std::string> out;
  for (const auto& column : columns.all()) out.emplace_back(column.name);
  return out;
}

CellFinder::CellFinder(const Columns& columns) : columns_(columns.chosen()), cells_(columns_.size()) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    needs_text_ = needs_text_ || has_text(columns_[i].type);
    if (columns_[i].type == whole) whole_ = i;
  }
}

void CellFinder::learn(const Node* item) {
  names_.clear();
  wanted_.clear();
  const Node* key = first(item);
  for (std::size_t place = 0; place < size(item); ++place, key = next(value_of(key))) {
    const auto name = detail::text(key);
    names_.emplace_back(name);
    const auto found = std::find_if(columns_.begin(), columns_.end(), [name](const Column& column) {
      return column.name == name && column.type != whole;
    });
    if (found == columns_.end()) continue;
    wanted_.push_back({place, static_cast<std::size_t>(found - columns_.begin()), has_text(found->type)});
  }
  values_.resize(names_.size());
}

std::span<const Cell> CellFinder::find(const Document& document, const Node* item) {
  if (kind(item) != Value::Kind::object) {
    throw value_error(ErrorCode::decode, document.path(item),
                      std::string("is ") + kind_name(kind(item)) + ", not an object");
  }
  if (!has_members(item, names_, values_)) {
    learn(item);
    static_cast<void>(has_members(item, names_, values_));
  }
  std::fill(cells_.begin(), cells_.end(), Cell());
  if (whole_) {
    cells_[*whole_] = {item, texts_.item(document, item)};
  } else if (needs_text_ && !texts_.knows_where()) {
    static_cast<void>(texts_.item(document, item));
  }
  for (const auto& [place, column, needs_text] : wanted_) {
    const auto* value = values_[place];
    cells_[column] = {value, needs_text ? texts_.value(document, value) : std::string_view()};
  }
  return cells_;
}

std::optional<std::size_t> TextFinder::place_of(const Document& document, std::string_view name) const noexcept {
  const auto text = document.text();
  const auto place = begin_ ? reinterpret_cast<std::uintptr_t>(name.data()) - *begin_ : 0;
  if (place == 0 || place >= text.size() || name.size() >= text.size() - place) return std::nullopt;
  const bool found =
      text[place - 1] == '"' && text.substr(place, name.size()) == name && text[place + name.size()] == '"';
  return found ? std::optional(place) : std::nullopt;
}

std::string_view TextFinder::item(const Document& document, const Node* item) {
  const auto text = document.text();
  if (size(item) == 0) return document.raw(item);
  const auto name = detail::text(first(item));
  if (const auto place = place_of(document, name)) {
    const auto open = text.find_last_not_of(" \t\r\n", *place - 2);
    if (open != std::string_view::npos && text[open] == '{') return nth_token(text, 0, {0, open});
  }
  const auto found = document.raw(item);
  const auto place = static_cast<std::uintptr_t>(found.data() - text.data()) + found.find('"') + 1;
  begin_ = reinterpret_cast<std::uintptr_t>(name.data()) - place;
  return found;
}

std::string_view TextFinder::value(const Document& document, const Node* value) const {
  const auto name = detail::text(key_of(value));
  const auto place = place_of(document, name);
  if (!place) return document.raw(value);
  return nth_token(document.text(), 0, {0, *place + name.size() + 1});
}

std::optional<std::string> scaled_digits(std::string_view number) {
  std::string out;
  if (number.front() == '-') {
    out = "-";
    number.remove_prefix(1);
  }
  const auto exponent_at = std::min(number.find_first_of("eE"), number.size());
  auto mantissa = number.substr(0, exponent_at);
  int exponent = 0;
  if (exponent_at < number.size()) {
    auto digits = number.substr(exponent_at + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (read.ec != std::errc())
      return mantissa.find_first_not_of("0.") == std::string_view::npos ? std::optional<std::string>("0")
                                                                        : std::nullopt;
  }
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  const auto behind = static_cast<std::ptrdiff_t>(digits.size()) - static_cast<std::ptrdiff_t>(point);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return "0";
  // Number of zeros to append. A negative number means that there are too many fractional digits; the surplus digits
  // must be zeros.
  auto missing = decimal_scale - behind + exponent;
  for (; missing < 0 && digits.back() == '0' && digits.size() > 1; ++missing) digits.pop_back();
  if (missing < 0 || static_cast<std::ptrdiff_t>(digits.size()) + missing > decimal_digits) return std::nullopt;
  return out.append(digits).append(static_cast<std::size_t>(missing), '0');
}

}  // namespace billcore::detail
