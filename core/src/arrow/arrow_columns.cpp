#include "arrow/arrow_columns.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <unordered_set>

#include "arrow/column_table.hpp"
#include "base/unescape.hpp"
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
constexpr std::array constant_types{text, integer, boolean, time};

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

std::shared_ptr<const Columns> with_constants(Table table, std::vector<Column> chosen,
                                              std::vector<ArrowConstant> constants) {
  for (std::size_t i = 0; i < constants.size(); ++i) {
    refuse_constant(chosen, std::span(constants).first(i), constants[i]);
  }
  return std::make_shared<const Columns>(columns_of(table), std::move(chosen), std::move(constants));
}

bool has_text(ColumnType type) noexcept { return type == json || type == decimal || type == whole || type == rest; }

bool is_of_a_field(const Column& column) noexcept { return column.type != whole && column.type != rest; }

/// Whether a JSON string, as received, has an absolute URL with a query, possibly with escapes.
bool has_signed_url(std::string_view string) {
  if (string.find_first_of("?%&\\") == std::string_view::npos) return false;
  Unescaped text(string);
  for (int level = 0; level < max_escape_levels; ++level) {
    const std::string_view plain = text.text();
    for (auto at = plain.find("://"); at != std::string_view::npos; at = plain.find("://", at)) {
      at = std::min(plain.find_first_of("? \t\r\n", at), plain.size());
      if (at < plain.size() && plain[at] == '?') return true;
    }
    if (!text.unescape()) return false;
  }
  return true;  // more levels of escapes may hide a URL
}

/// Appends JSON text, in which "[redacted]" takes the place of each string with a URL that may be signed.
void append_without_signed_urls(std::string& out, std::string_view json) {
  std::size_t at = 0;
  for (auto quote = json.find('"'); quote != std::string_view::npos; quote = json.find('"', at)) {
    const auto string = nth_token(json, 0, {0, quote});
    out += json.substr(at, quote - at);
    out += has_signed_url(string) ? R"("[redacted]")" : string;
    at = quote + string.size();
  }
  out += json.substr(at);
}

}  // namespace

std::span<const Column> columns_of(Table table) noexcept { return column_table::columns_of(table); }

Columns::Columns(std::span<const Column> known, std::vector<Column> chosen, std::vector<ArrowConstant> constants)
    : known_(known), chosen_(chosen.size()), constants_(std::move(constants)), all_(std::move(chosen)) {
  for (const auto& constant : constants_) {
    all_.push_back({constant.name, constant_types.at(constant.value.index())});
    if (const auto* value = std::get_if<std::string>(&constant.value)) constant_bytes_ += value->size();
  }
}

bool Columns::is_field(std::string_view name) const noexcept {
  return std::any_of(known_.begin(), known_.end(),
                     [name](const Column& column) { return is_of_a_field(column) && column.name == name; });
}

bool Columns::has_secrets() const noexcept {
  return std::any_of(all_.begin(), all_.end(), [](const Column& column) { return column.secret; });
}

std::shared_ptr<const Columns> choose_columns(Table table, const ArrowFields& fields,
                                              std::vector<ArrowConstant> constants) {
  const auto all = columns_of(table);
  std::vector<Column> chosen;
  if (!fields) {
    std::copy_if(all.begin(), all.end() - 1, std::back_inserter(chosen),
                 [](const Column& column) { return !column.secret; });
    return with_constants(table, std::move(chosen), std::move(constants));
  }
  if (fields->empty())
    throw Error(ErrorCode::invalid_argument, "fields is empty: name a column, or leave it out for all");
  for (const auto& name : *fields) {
    const auto same = [&name](const Column& column) { return column.name == name; };
    const auto found = std::find_if(all.begin(), all.end(), same);
    if (found == all.end()) refuse_name(table, chosen.size());
    if (std::any_of(chosen.begin(), chosen.end(), same)) {
      throw Error(ErrorCode::invalid_argument, "fields has " + name + " twice: name each column once");
    }
    chosen.push_back(*found);
  }
  return with_constants(table, std::move(chosen), std::move(constants));
}

std::vector<std::string> column_names(const Columns& columns) {
  std::vector<std::string> out;
  for (const auto& column : columns.all()) out.emplace_back(column.name);
  return out;
}

CellFinder::CellFinder(const Columns& columns) : columns_(columns), cells_(columns.chosen().size()) {
  const auto chosen = columns.chosen();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    needs_text_ = needs_text_ || has_text(chosen[i].type);
    if (chosen[i].type == whole) whole_ = i;
    if (chosen[i].type == rest) rest_ = i;
    if (is_of_a_field(chosen[i])) fields_.push_back(i);
  }
}

void CellFinder::learn(const Node* item) {
  names_.clear();
  wanted_.clear();
  unknown_.clear();
  const auto chosen = columns_.chosen();
  const Node* key = first(item);
  for (std::size_t place = 0; place < size(item); ++place, key = next(value_of(key))) {
    const auto name = detail::text(key);
    names_.emplace_back(name);
    if (rest_ && !columns_.is_field(name)) {
      unknown_.push_back(place);
      continue;
    }
    const auto found = std::find_if(chosen.begin(), chosen.end(), [name](const Column& column) {
      return column.name == name && is_of_a_field(column);
    });
    if (found == chosen.end()) continue;
    wanted_.push_back({place, static_cast<std::size_t>(found - chosen.begin())});
  }
  values_.resize(names_.size());
  std::unordered_set<std::string_view> later;  // if a name is repeated, the last member counts
  std::reverse(unknown_.begin(), unknown_.end());
  std::erase_if(unknown_, [&](std::size_t place) { return !later.insert(names_[place]).second; });
  std::reverse(unknown_.begin(), unknown_.end());
}

std::span<const Cell> CellFinder::find(const Document& document, const Node* item) {
  if (kind(item) != Value::Kind::object) {
    throw value_error(ErrorCode::decode, document.path(item),
                      std::string("is ") + kind_name(kind(item)) + ", not an object");
  }
  std::fill(cells_.begin(), cells_.end(), Cell());
  if (whole_) {
    cells_[*whole_] = {item, texts_.item(document, item)};
  } else if (needs_text_ && !texts_.knows_where()) {
    static_cast<void>(texts_.item(document, item));
  }
  if (!rest_ && Document::is_alike(item)) {
    for (const auto column : fields_) {
      put(document, document.member(item, columns_.chosen()[column].name), column);
    }
    return cells_;
  }
  if (!has_members(item, names_, values_)) {
    learn(item);
    static_cast<void>(has_members(item, names_, values_));
  }
  for (const auto& [place, column] : wanted_) put(document, values_[place], column);
  if (!unknown_.empty()) find_rest(document, item);
  return cells_;
}

void CellFinder::put(const Document& document, const Node* value, std::size_t column) {
  const bool needs_text = value != nullptr && has_text(columns_.chosen()[column].type);
  cells_[column] = {value, needs_text ? texts_.value(document, value) : std::string_view()};
}

void CellFinder::find_rest(const Document& document, const Node* item) {
  const bool with_urls = columns_.has_secrets();
  rest_text_ = '{';
  for (const auto place : unknown_) {
    if (place != unknown_.front()) rest_text_ += ',';
    const auto member = texts_.member(document, values_[place]);
    if (with_urls) {
      rest_text_ += member;
    } else {
      append_without_signed_urls(rest_text_, member);
    }
  }
  cells_[*rest_] = {item, rest_text_ += '}'};
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

std::string_view TextFinder::member(const Document& document, const Node* value) const {
  const auto* const key = key_of(value);
  const auto place = place_of(document, detail::text(key));
  const auto* const begin = place ? document.text().data() + *place - 1 : document.raw(key).data();
  const auto end = this->value(document, value);
  return {begin, static_cast<std::size_t>(end.data() + end.size() - begin)};
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
