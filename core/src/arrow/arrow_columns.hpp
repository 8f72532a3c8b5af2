// Arrow columns: which columns a resource has, and where their values are in an item. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/arrow.hpp"
#include "billcore/detail/document.hpp"

namespace billcore::detail {

enum class ColumnType : std::uint8_t {
  text,
  id,       // as text; an integer id as its digits
  integer,  // int64
  boolean,
  time,     // microseconds, UTC
  decimal,  // see decimal_scale
  json,     // any JSON value, as the JSON text received
  whole,    // the whole item, as received
};

struct Column {
  std::string_view name;
  ColumnType type;
};

/// Digits of a decimal, and how many of them are fractional: enough for any percentage in a double.
inline constexpr int decimal_digits = 38;
inline constexpr int decimal_scale = 18;
inline constexpr int decimal_bytes = 16;

/// All columns of a resource in the order of the interface; `raw` is the last.
[[nodiscard]] std::span<const Column> columns_of(Table table) noexcept;

class Columns {
 public:
  explicit Columns(std::vector<Column> chosen) : chosen_(std::move(chosen)) {}
  [[nodiscard]] const std::vector<Column>& chosen() const noexcept { return chosen_; }

 private:
  std::vector<Column> chosen_;
};

/// The value of an item in a column.
struct Cell {
  const Node* node = nullptr;  // null when absent
  std::string_view text;       // JSON text as received, for the column types that need it
};

/// Finds the JSON text of members as received. The parser stores all strings in one copy of the text, so the distance
/// between two names is the same in the copy and in the text: one known position gives all others. Each computed
/// position is verified.
class TextFinder {
 public:
  [[nodiscard]] std::string_view item(const Document& document, const Node* item);
  /// The JSON text of a member's value as received.
  [[nodiscard]] std::string_view value(const Document& document, const Node* value) const;
  /// Whether an item with members has been read, so that value() is fast.
  [[nodiscard]] bool knows_where() const noexcept { return begin_.has_value(); }

 private:
  [[nodiscard]] std::optional<std::size_t> place_of(const Document& document, std::string_view name) const noexcept;

  std::optional<std::uintptr_t> begin_;  // the address of the copy's first byte
};

/// Finds the cells of items. The items of a page usually have the same members in the same order, so their names are
/// only compared with those of the previous item.
class CellFinder {
 public:
  explicit CellFinder(const Columns& columns);
  /// The cells of an item, in the order of the columns; valid until the next call. Error(decode) if the item is not an
  /// object.
  [[nodiscard]] std::span<const Cell> find(const Document& document, const Node* item);

 private:
  void learn(const Node* item);

  const std::vector<Column>& columns_;
  std::optional<std::size_t> whole_;
  bool needs_text_ = false;
  TextFinder texts_;
  std::vector<Cell> cells_;
  std::vector<std::string> names_;   // names of an item's members
  std::vector<const Node*> values_;  // values of the last item, in the order of names_
  struct Wanted {
    std::size_t place;
    std::size_t column;
    bool needs_text;
  };
  std::vector<Wanted> wanted_;  // in text order, so that the last member with a repeated name wins
};

/// The digits of a JSON number times 10^decimal_scale; nullopt if they do not fit into a decimal.
[[nodiscard]] std::optional<std::string> scaled_digits(std::string_view number);

}  // namespace billcore::detail
