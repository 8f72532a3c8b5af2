// Parses two JSON texts, separated by NUL, compares and writes the values, and reads them with every accessor.
#include <optional>

#include "base/utf8.hpp"
#include "billcore/detail/document.hpp"
#include "support.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

std::optional<Value> parsed(std::string_view text) {
  std::string problem;
  const auto compact = detail::compact_json(text, problem);
  JsonObject writer;
  bool accepted = true;
  try {
    writer.set_json("x", text);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument, "invalid JSON is an invalid argument");
    require_readable(error);
    accepted = false;
  }
  require(accepted == compact.has_value(), "all parsers agree");
  require(detail::valid_utf8(text) == is_utf8(text), "UTF-8 is valid as in Unicode");
  try {
    auto value = parse(text);
    require(compact.has_value() && is_utf8(text), "all parsers agree");
    require(compact->size() <= text.size() + 6 * text.size() && parse(*compact) == value, "written JSON is the same");
    const auto dumped = writer.dump();
    try {
      require(parse(dumped).find("x") == value, "a member that was set is the same");
    } catch (const Error& error) {
      require(error.message().find("nested") != std::string::npos, "what was written can be read");
    }
    return value;
  } catch (const Error& error) {
    require_decode(error);
    require(!compact.has_value(), "all parsers agree");
    require(is_one_line(problem), "a problem is one line");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto all = view(data, size);
  const auto border = all.find('\0');
  const auto first = parsed(all.substr(0, border));
  if (first) walk(*first, "");
  if (border == std::string_view::npos) return 0;
  const auto second = parsed(all.substr(border + 1));
  if (!first || !second) return 0;
  const bool equal = *first == *second;
  require(equal == (*second == *first), "equality is symmetric");
  require(!equal || (first->kind() == second->kind()), "equal values are of one kind");
  return 0;
}
