// Exports lists as Arrow columns. The batch of a page must pass nanoarrow's full validation, and have the values that
// the functions in values.hpp read. If one of these functions fails for a value, get_next() must also fail.
//
// The input selects the columns, and the class Maker makes one page from the rest of the input.
#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "arrow/arrow_columns.hpp"
#include "billcore/arrow.hpp"
#include "billcore/values.hpp"
#include "bytes.hpp"
#include "paging/page_flow.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

using Document = std::shared_ptr<const detail::Document>;
using Texts = std::vector<std::string>;

class Source final : public detail::PageSource {
 public:
  explicit Source(Document page) : page_(std::move(page)) {}
  Document fetch(const detail::Wanted& /*wanted*/) override { return page_; }
  void ahead(const detail::Wanted& /*wanted*/) override {}
  void tend() noexcept override {}
  void stop() noexcept override {}

 private:
  Document page_;
};

/// Makes a page of items. Most members of the items have the name of an exported column, and most values have the type
/// of their column. If the first byte of the input is odd, the page is the rest of the input, verbatim.
class Maker {
 public:
  Maker(Bytes& plan, const Texts& names) : plan_(plan), names_(names) {}

  std::string page() {
    std::string items;
    if (plan_.flag()) {
      items = plan_.rest();
    } else {
      for (auto left = plan_.below(8); left > 0; --left) items += (items.empty() ? "" : ",") + space() + item();
    }
    return "{\"data\":[" + items + "],\"pagination\":{\"current_page\":1,\"total_pages\":1}}";
  }

 private:
  std::string space() { return std::array{"", "", " ", "\n\t"}.at(plan_.below(4)); }

  std::string item() {
    if (plan_.below(32) == 31) return plan_.flag() ? "[{}]" : "7";
    std::string out = "{";
    for (auto left = plan_.below(names_.size() + 3); left > 0; --left) {
      out += space() + name() + space() + ':' + space() + value() + (left > 1 ? "," : "");
    }
    return out + '}';
  }

  std::string name() {
    const auto which = plan_.below(names_.size() + 2);
    if (which >= names_.size()) return which == names_.size() ? R"("x\"}")" : R"("")";
    const auto& name = names_[which];
    kind_ = kind_of(name);
    if (plan_.below(16) != 15) return '"' + name + '"';
    return "\"\\u00" + hex_of(name.front()) + name.substr(1) + '"';
  }
  static std::string hex_of(char c) {
    return {"0123456789abcdef"[static_cast<unsigned char>(c) / 16], "0123456789abcdef"[c % 16]};
  }

  // Returns the index in `values` (see value()) at which the values for this column begin.
  static std::size_t kind_of(std::string_view name) {
    if (name.ends_with("_at")) return 12;
    if (name.starts_with("price") || name.starts_with("total") || name == "vat" || name == "id") return 4;
    if (name == "vat_rate") return 4;
    if (name.starts_with("use_") || name.starts_with("stock_") || name.starts_with("out_")) return 16;
    return 20;
  }

  std::string value() {
    static const std::array<std::string_view, 28> values{"null",
                                                         "[]",
                                                         R"({"a" : [1, 2.50, "}"]})",
                                                         "-0.0e0",  // index 3: the values for columns begin at 4
                                                         "0",
                                                         "7",
                                                         "-9223372036854775808",
                                                         "12.5",
                                                         "9223372036854775808",
                                                         "1250e-2",
                                                         "0.000000000000000001",
                                                         "-0",
                                                         R"("2025-04-25T12:00:00.25+02:00")",
                                                         R"("0000-01-01T00:00")",
                                                         R"("9999-12-31T23:59:60Z")",
                                                         R"("soon")",
                                                         "true",
                                                         "false",
                                                         "true",
                                                         "false",
                                                         R"("")",
                                                         R"("caf\u00e9 \ud83d\ude00")",
                                                         R"("a\u0000b\"\\")",
                                                         "\"\xC3\xA9\"",
                                                         R"("7")",
                                                         "{}",
                                                         "[[[]]]",
                                                         "99999999999999999999.5e-1"};
    const auto chance = plan_.byte();
    if (chance < 16) return "null";
    if (chance < 40 && kind_ == 4) return std::to_string(static_cast<std::int64_t>(plan_.number(8)));
    if (chance < 60 && kind_ == 4) {
      return std::to_string(plan_.number(2)) + '.' + std::to_string(plan_.number(8)) + 'e' +
             std::to_string(static_cast<int>(plan_.byte()) - 128);
    }
    if (chance > 250) return std::string(values.at(chance % values.size()));
    return std::string(values.at(kind_ + chance % (kind_ == 4 || kind_ == 20 ? 8 : 4)));
  }

  Bytes& plan_;
  const Texts& names_;
  std::size_t kind_ = 20;
};

/// Multiplies a number by 10^18: moves its decimal point, one digit at a time. Returns nullopt if a fraction is left
/// or the result has more than 38 digits.
std::optional<std::string> times_ten_to_18(std::string number) {
  const bool negative = number.front() == '-';
  if (negative) number.erase(0, 1);
  const auto mark = std::min(number.find_first_of("eE"), number.size());
  auto exponent = number.substr(std::min(mark + 1, number.size()));
  number.erase(mark);
  const auto point = std::min(number.find('.'), number.size());
  auto whole = number.substr(0, point);
  auto fraction = number.substr(std::min(point + 1, number.size()));
  if ((whole + fraction).find_first_not_of('0') == std::string::npos) return "0";
  const bool down = exponent.starts_with('-');
  exponent.erase(0, exponent.find_first_not_of("+-0"));
  if (exponent.size() > 4) return std::nullopt;  // no input is long enough for a number that fits with such an exponent
  for (auto left = (down ? -1 : 1) * std::atoi(exponent.c_str()) + 18; left != 0; left += left > 0 ? -1 : 1) {
    auto& from = left > 0 ? fraction : whole;
    const char moved = from.empty() ? '0' : left > 0 ? from.front() : from.back();
    if (!from.empty()) from.erase(left > 0 ? 0 : from.size() - 1, 1);
    left > 0 ? whole.push_back(moved) : static_cast<void>(fraction.insert(0, 1, moved));
  }
  whole.erase(0, whole.find_first_not_of('0'));
  if (fraction.find_first_not_of('0') != std::string::npos || whole.size() > 38) return std::nullopt;
  return (negative ? "-" : "") + whole;
}

/// Returns the value that an item must have in the column, as the functions in values.hpp read it; nullopt for null.
std::optional<std::string> wanted_of(const Value& item, std::string_view name, std::string_view format) {
  if (name == "raw") return std::string(item.raw());
  if (name == "more") return std::nullopt;  // judge_rows() compares `more` with is_rest()
  const auto value = item.find(name);
  if (!value || value->is_null()) return std::nullopt;
  if (format == "l") return std::to_string(value->integer());
  if (format == "b") return value->boolean() ? "1" : "0";
  if (format == "tsu:UTC") return std::to_string(read_time(*value).at.time_since_epoch().count());
  if (format == "d:38,18") {
    auto digits = times_ten_to_18(std::string(read_number_text(*value)));
    if (!digits) throw Error(ErrorCode::out_of_range, "too many digits");
    return digits;
  }
  require(format == "u", "a column has one of five types");
  if (name == "id") return read_id(*value).text();
  for (const auto* const nested : {"custom_fields", "metadata", "delivery", "images", "strings"}) {
    if (name == nested) return std::string(value->raw());
  }
  return std::string(value->text());
}

std::optional<std::string> shown(const ArrowArrayView* column, std::int64_t row) {
  if (ArrowArrayViewIsNull(column, row) != 0) return std::nullopt;
  if (column->storage_type == NANOARROW_TYPE_STRING) {
    const auto text = ArrowArrayViewGetStringUnsafe(column, row);
    return std::string(text.data, static_cast<std::size_t>(text.size_bytes));
  }
  if (column->storage_type != NANOARROW_TYPE_DECIMAL128) {
    return std::to_string(ArrowArrayViewGetIntUnsafe(column, row));
  }
  ArrowDecimal decimal{};
  ArrowDecimalInit(&decimal, 128, 38, 18);
  ArrowArrayViewGetDecimalUnsafe(column, row, &decimal);
  ArrowBuffer digits{};
  ArrowBufferInit(&digits);
  require(ArrowDecimalAppendDigitsToBuffer(&decimal, &digits) == NANOARROW_OK, "a decimal has digits");
  std::string out(reinterpret_cast<const char*>(digits.data), static_cast<std::size_t>(digits.size_bytes));
  ArrowBufferReset(&digits);
  return out;
}

/// Whether a cell of the column `more` has the members of the item that are not fields, as received. If a name is
/// repeated, its last member counts. URLs that may be signed are redacted.
bool is_rest(const std::optional<std::string>& cell, const Value& item, const Texts& fields) {
  std::map<std::string, std::string> wanted;
  for (const auto& member : item) {
    if (std::find(fields.begin(), fields.end(), member.name) == fields.end()) {
      wanted[std::string(member.name)] = member.value().raw();
    }
  }
  if (!cell || wanted.empty()) return !cell && wanted.empty();
  const auto document = detail::Document::parse(SharedText::own(*cell));
  const Value found(document, document->root());
  if (cell->find("[redacted]") != std::string::npos) return found.size() == wanted.size();
  return found.size() == wanted.size() && std::all_of(found.begin(), found.end(), [&wanted](const auto& member) {
           const auto known = wanted.find(std::string(member.name));
           return known != wanted.end() && known->second == member.value().raw();
         });
}

void judge_rows(const ArrowSchema& schema, const ArrowArray& array, const std::vector<Value>& items,
                const Texts& fields) {
  ArrowArrayView view{};
  require(ArrowArrayViewInitFromSchema(&view, &schema, nullptr) == NANOARROW_OK, "a schema is valid");
  require(ArrowArrayViewSetArray(&view, &array, nullptr) == NANOARROW_OK, "an array matches its schema");
  require(ArrowArrayViewValidate(&view, NANOARROW_VALIDATION_LEVEL_FULL, nullptr) == NANOARROW_OK, "an array is valid");
  require(array.length == static_cast<std::int64_t>(items.size()), "an item is a row");
  for (std::int64_t row = 0; row < array.length; ++row) {
    for (std::int64_t i = 0; i < array.n_children; ++i) {
      const auto& field = *schema.children[i];
      const auto& item = items[static_cast<std::size_t>(row)];
      const auto cell = shown(view.children[i], row);
      require(field.name == std::string_view("more") ? is_rest(cell, item, fields)
                                                     : cell == wanted_of(item, field.name, field.format),
              "a cell holds what the value says");
    }
  }
  ArrowArrayViewReset(&view);
}

bool can_be_read(const ArrowSchema& schema, const std::vector<Value>& items) {
  try {
    for (const auto& item : items) {
      for (std::int64_t i = 0; i < schema.n_children; ++i) {
        static_cast<void>(wanted_of(item, schema.children[i]->name, schema.children[i]->format));
      }
    }
  } catch (const Error& error) {
    require_decode(error);
    return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes plan(data, size);
  const auto table = static_cast<detail::Table>(plan.below(3));
  Texts names;
  for (const auto& column : detail::columns_of(table)) names.emplace_back(column.name);
  const Texts all(names.begin(), names.end() - 2);  // the fields: `more` and `raw` follow
  auto chosen = plan.number(3);
  std::erase_if(names,
                [&chosen](const std::string& /*name*/) { return (std::exchange(chosen, chosen / 2) & 1U) != 0; });
  if (names.empty()) return 0;
  std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(plan.below(names.size())), names.end());
  const bool parts = plan.flag();
  const auto text = Maker(plan, all).page();

  Document document;
  try {
    document = detail::Document::parse(SharedText::own(text));
  } catch (const Error&) {
    return 0;
  }
  // A second pager reads the same page and gives the expected items; it throws if an item is not an object.
  const auto pager = [&text] {
    return std::make_shared<detail::PageFlow>(detail::PagerOptions{},
                                              std::make_unique<Source>(detail::Document::parse(SharedText::own(text))));
  };
  const auto reference = pager();
  ArrowArrayStream stream{};
  detail::export_pager(AnyPager(pager()), table, names, &stream);
  ArrowSchema schema{};
  require(stream.get_schema(&stream, &schema) == 0, "a stream has a schema");

  std::vector<ArrowArray> arrays;
  std::vector<std::vector<Value>> pages;
  for (bool more = true; more;) {
    std::vector<Value> items;
    std::string problem;
    try {
      if (reference->core().buffered() || reference->advance() == detail::Step::taken) {
        if (const auto page = reference->core().rest_of_page()) {
          for (const auto* item : page->items) items.emplace_back(page->document, item);
        }
        if (items.empty()) continue;  // a page without new items has no batch
      } else {
        more = false;
      }
    } catch (const Error& error) {
      problem = error.what();
      more = error.code() == ErrorCode::decode;
    }
    ArrowArray array{};
    const auto status = stream.get_next(&stream, &array);
    if (status != 0) {
      require(status == EINVAL && array.release == nullptr, "a bad page gives EINVAL and no array");
      const std::string_view said = stream.get_last_error(&stream);
      require(is_one_line(said), "an error is one line");
      require(problem.empty() ? !can_be_read(schema, items) : said == problem, "a page fails as its values do");
      if (problem.empty()) break;  // every further get_next() fails with the same error
      continue;
    }
    require(problem.empty() && (array.release != nullptr) == more, "a stream ends with its list");
    if (!more) break;
    require(can_be_read(schema, items), "an unreadable page is an error");
    arrays.push_back(array);
    pages.push_back(std::move(items));
    reference->core().skip_page();
  }
  // A batch must outlive its stream, and a column that was moved out of a batch must outlive the batch.
  stream.release(&stream);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    judge_rows(schema, arrays[i], pages[i], all);
    ArrowArray part{};
    if (parts) ArrowArrayMove(arrays[i].children[0], &part);
    arrays[i].release(&arrays[i]);
    if (parts) {
      require(part.length == static_cast<std::int64_t>(pages[i].size()), "a part keeps its rows");
      part.release(&part);
    }
  }
  schema.release(&schema);
  return 0;
}
