// Arrow columns: the columns of a resource, and a search for their values in an item. Internal.
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
  id,       // a text column; an integer id becomes its digits
  integer,  // int64
  boolean,
  time,     // microseconds, UTC
  decimal,  // see decimal_scale
  json,     // any JSON value, as the JSON text received
  rest,     // the members of the item that are not fields of the resource, as a JSON object; null if there are none
  whole,    // the whole item, as received
};

struct Column {
  std::string_view name;
  ColumnType type;
  bool secret = false;  // included only if the caller names the column
};

/// Total number of digits of a decimal column, and number of its fractional digits: enough for every realistic
/// vat_rate.
inline constexpr int decimal_digits = 38;
inline constexpr int decimal_scale = 18;
inline constexpr int decimal_bytes = 16;

/// All columns of a resource: its fields in the order of resources.toml, then `more` and `raw`.
[[nodiscard]] std::span<const Column> columns_of(Table table) noexcept;

class Columns {
 public:
  /// `known`: all columns of the resource; `chosen`: those that the caller asked for.
  explicit Columns(std::span<const Column> known, std::vector<Column> chosen, std::vector<ArrowConstant> constants);
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  /// Whether the resource has a field with this name.
  [[nodiscard]] bool is_field(std::string_view name) const noexcept;
  /// Whether a secret column is among the chosen ones.
  [[nodiscard]] bool has_secrets() const noexcept;
  /// The columns whose values come from the items, not from constants.
  [[nodiscard]] std::span<const Column> chosen() const noexcept { return std::span(all_).first(chosen_); }
  [[nodiscard]] const std::vector<ArrowConstant>& constants() const noexcept { return constants_; }
  /// The columns of a batch: the chosen columns, then the constant columns.
  [[nodiscard]] const std::vector<Column>& all() const noexcept { return all_; }
  /// Bytes of text that the constant columns add to each row.
  [[nodiscard]] std::size_t constant_bytes() const noexcept { return constant_bytes_; }

 private:
  std::span<const Column> known_;
  std::size_t chosen_;
  std::size_t constant_bytes_ = 0;
  std::vector<ArrowConstant> constants_;
  std::vector<Column> all_;  // ends with the constant columns, which have the names of constants_
};

/// The value of one item in one column.
struct Cell {
  const Node* node = nullptr;  // null if the item does not have the member
  std::string_view text;       // JSON text as received, for the column types that need it
};

/// Finds the JSON text of items and members as received. The parser copies the whole JSON text and keeps all strings in
/// that copy, at their offsets in the text. The offset of a member's name in the JSON text is therefore the name's
/// address minus the address of the copy. Each computed offset is verified.
class TextFinder {
 public:
  [[nodiscard]] std::string_view item(const Document& document, const Node* item);
  /// The JSON text of a member's value as received.
  [[nodiscard]] std::string_view value(const Document& document, const Node* value) const;
  /// A member's name and value as received, with the colon between them.
  [[nodiscard]] std::string_view member(const Document& document, const Node* value) const;
  /// Whether the address of the parser's copy is known, which makes value() fast.
  [[nodiscard]] bool knows_where() const noexcept { return begin_.has_value(); }

 private:
  [[nodiscard]] std::optional<std::size_t> place_of(const Document& document, std::string_view name) const noexcept;

  std::optional<std::uintptr_t> begin_;  // address of the parser's copy of the JSON text
};

/// Finds the cells of an item. The items of a page usually have the same members in the same order, so usually find()
/// only looks up the columns' members in the layout of the page or, if there is a column of the type `rest`, compares
/// the member names of an item with those of the previous item.
class CellFinder {
 public:
  explicit CellFinder(const Columns& columns);
  /// The cells of an item, in the order of the columns; valid until the next call. Throws Error(decode) if the item is
  /// not an object.
  [[nodiscard]] std::span<const Cell> find(const Document& document, const Node* item);

 private:
  void learn(const Node* item);
  /// value: null if the item does not have the member.
  void put(const Document& document, const Node* value, std::size_t column);
  void find_rest(const Document& document, const Node* item);

  const Columns& columns_;
  std::optional<std::size_t> whole_;
  std::optional<std::size_t> rest_;
  bool needs_text_ = false;
  TextFinder texts_;
  std::vector<Cell> cells_;
  std::vector<std::string> names_;   // member names of the item that learn() saw last
  std::vector<const Node*> values_;  // values of the last item, in the order of names_
  struct Wanted {
    std::size_t place;
    std::size_t column;
  };
  std::vector<std::size_t> fields_;   // the columns that are members
  std::vector<std::size_t> unknown_;  // the places of the members for the column of the type `rest`
  std::string rest_text_;
  std::vector<Wanted> wanted_;  // the wanted members in text order; if a name is repeated, the last member counts
};

/// The digits of a JSON number multiplied by 10^decimal_scale; nullopt if they do not fit into a decimal column.
[[nodiscard]] std::optional<std::string> scaled_digits(std::string_view number);

}  // namespace billcore::detail
