// Exports lists as Arrow columns. The batch of a page must pass nanoarrow's full validation, and have the values that
// the functions in values.hpp read. If one of these functions fails for a value, get_next() must also fail.
//
// The first bytes of the input select the columns; the rest is the items of a page.
#include <nanoarrow/nanoarrow.h>

#include <algorithm>
#include <cerrno>

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

/// Returns the value that an item must have in the column, as the functions in values.hpp read it; nullopt for null.
std::optional<std::string> wanted_of(const Value& item, std::string_view name, std::string_view format) {
  if (name == "raw") return std::string(item.raw());
  if (name == "more") return std::nullopt;  // judged by tests/core/arrow
  const auto value = item.find(name);
  if (!value || value->is_null()) return std::nullopt;
  if (format == "l") return std::to_string(value->integer());
  if (format == "b") return value->boolean() ? "1" : "0";
  if (format == "tsu:UTC") return std::to_string(read_time(*value).at.time_since_epoch().count());
  if (format == "d:38,18") {
    auto digits = detail::scaled_digits(read_number_text(*value));
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

void judge_rows(const ArrowSchema& schema, const ArrowArray& array, const std::vector<Value>& items) {
  ArrowArrayView view{};
  require(ArrowArrayViewInitFromSchema(&view, &schema, nullptr) == NANOARROW_OK, "a schema is valid");
  require(ArrowArrayViewSetArray(&view, &array, nullptr) == NANOARROW_OK, "an array matches its schema");
  require(ArrowArrayViewValidate(&view, NANOARROW_VALIDATION_LEVEL_FULL, nullptr) == NANOARROW_OK, "an array is valid");
  require(array.length == static_cast<std::int64_t>(items.size()), "an item is a row");
  for (std::int64_t row = 0; row < array.length; ++row) {
    for (std::int64_t i = 0; i < array.n_children; ++i) {
      const auto& field = *schema.children[i];
      require(
          field.name == std::string_view("more") ||
              shown(view.children[i], row) == wanted_of(items[static_cast<std::size_t>(row)], field.name, field.format),
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
  auto chosen = plan.number(3);
  std::erase_if(names,
                [&chosen](const std::string& /*name*/) { return (std::exchange(chosen, chosen / 2) & 1U) != 0; });
  if (names.empty()) return 0;
  std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(plan.below(names.size())), names.end());
  const auto text =
      "{\"data\":[" + std::string(plan.rest()) + "],\"pagination\":{\"current_page\":1,\"total_pages\":1}}";

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
  stream.release(&stream);
  for (std::size_t i = 0; i < arrays.size(); ++i) {  // a batch outlives its stream
    judge_rows(schema, arrays[i], pages[i]);
    arrays[i].release(&arrays[i]);
  }
  schema.release(&schema);
  return 0;
}
