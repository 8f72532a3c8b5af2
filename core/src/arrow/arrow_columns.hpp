// The columns of each resource, and how a value becomes the content of one. Internal.
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
  id,       // its text, digits for an integer
  integer,  // int64
  boolean,
  time,     // microseconds, UTC
  decimal,  // see decimal_scale
  json,     // whatever it is, as received
  whole,    // the item as received
};

struct Column {
  std::string_view name;
  ColumnType type;
};

/// A decimal has so many digits, these of them behind the point: enough for any double that is a percentage.
inline constexpr int decimal_digits = 38;
inline constexpr int decimal_scale = 18;

/// All columns of a resource in the order of the interface, `raw` behind them.
[[nodiscard]] std::span<const Column> columns_of(Table table) noexcept;

class Columns {
 public:
  explicit Columns(std::vector<Column> chosen) : chosen_(std::move(chosen)) {}
  [[nodiscard]] const std::vector<Column>& chosen() const noexcept { return chosen_; }

 private:
  std::vector<Column> chosen_;
};

/// What an item has for a column.
struct Cell {
  const Node* node = nullptr;  // null when absent
  std::string_view text;       // as received, for the types that need it
};

/// Finds the text of members as received. The parser keeps all strings in one copy of the text, so that the distance between
/// two names is the same there and here, and one of them tells where the others are; every place is checked.
class TextFinder {
 public:
  /// `first`: the name of the item's first member, null without one.
  [[nodiscard]] std::string_view item(const Document& document, const Node* item, const Node* first);
  [[nodiscard]] std::string_view value(const Document& document, const Node* key) const;
  /// Has it seen an item with members?
  [[nodiscard]] bool knows_where() const noexcept { return begin_.has_value(); }

 private:
  [[nodiscard]] std::optional<std::size_t> place_of(const Document& document, const Node* key) const noexcept;

  std::optional<std::uintptr_t> begin_;  // the address of the copy's first byte
};

/// Finds the cells of items. Those of a page have their members in the same order, mostly: where one was is where it is looked
/// for first.
class CellFinder {
 public:
  explicit CellFinder(const Columns& columns);
  /// The cells of one item, in the order of the columns, until the next call. Error(decode) when it is no object.
  [[nodiscard]] std::span<const Cell> find(const Document& document, const Node* item);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  [[nodiscard]] std::size_t column_of(std::string_view name) const noexcept;

  const std::vector<Column>& columns_;
  std::optional<std::size_t> whole_;
  bool needs_text_ = false;
  TextFinder texts_;
  std::vector<Cell> cells_;
  struct Place {
    std::string name;
    std::size_t column;
  };
  std::vector<Place> places_;  // of the item before
};

/// The digits of a JSON number times 10^decimal_scale; nothing when it has more than there is room for.
[[nodiscard]] std::optional<std::string> scaled_digits(std::string_view number);

}  // namespace billcore::detail
