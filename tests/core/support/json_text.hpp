// JSON as text, for test programs: parse a document, quote a string, join values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/json.hpp"

namespace billcore::test {

[[nodiscard]] Value parse(std::string text);
/// Parses a file of tests/fixtures.
[[nodiscard]] Value parse_fixture(const std::string& name);
[[nodiscard]] std::string quoted(std::string_view text);
[[nodiscard]] std::string quoted_or_null(const std::optional<std::string_view>& text);
[[nodiscard]] std::string array_of(const std::vector<std::string>& items);
[[nodiscard]] std::string base64_decoded(std::string_view text);
/// A page of a list.
struct Made {
  std::vector<std::string> ids;  // JSON texts
  std::int64_t current;
  std::int64_t pages;
  std::int64_t total = -1;               // total of the list; negative: the page states none
  std::vector<std::string> others = {};  // JSON texts of further items, which follow the items with `ids`
};
[[nodiscard]] std::string page_text(const Made& page);

/// Returns the bytes of a string, or those encoded in {"b64": …}.
[[nodiscard]] std::string bytes_of(const Value& value);

}  // namespace billcore::test
