// Tests the rows of a batch as JSON Lines and as CSV.
#include <gtest/gtest.h>

#include "arrow/arrow_columns.hpp"
#include "arrow/arrow_reader.hpp"
#include "billcore/arrow.hpp"
#include "billcore/internal.hpp"

namespace billcore {
namespace {

using namespace test::arrow;
using detail::LineFormat;

template <typename T>
std::string lines_of(const Texts& items, const Texts& fields, LineFormat format,
                     std::vector<ArrowConstant> constants = {}) {
  auto columns = detail::choose_columns(detail::table_of<T>, fields, std::move(constants));
  auto pager = pager_of<T>({items});
  detail::BatchReader reader(std::move(columns), 100);
  return detail::to_lines(reader.read(*internal::Access::flow(pager)).value(), format);
}

const Texts texts{R"({"id":7,"name":"a \"b\", c\\d\n\u0001\u00e6","price":-3,"use_cart":true,"vat_rate":12.50})",
                  R"({"id":8,"name":"","price":0,"use_cart":false,"vat_rate":-0.001})", R"({"id":9,"vat_rate":100})"};
const Texts fields{"id", "name", "price", "use_cart", "vat_rate"};

TEST(ArrowText, JsonLines) {
  EXPECT_EQ(lines_of<Product>(texts, fields, LineFormat::jsonl),
            "{\"id\":7,\"name\":\"a \\\"b\\\", c\\\\d\\u000a\\u0001\xC3\xA6\",\"price\":-3,\"use_cart\":true,"
            "\"vat_rate\":12.5}\n"
            R"({"id":8,"name":"","price":0,"use_cart":false,"vat_rate":-0.001})"
            "\n"
            R"({"id":9,"name":null,"price":null,"use_cart":null,"vat_rate":100})"
            "\n");
}

TEST(ArrowText, CsvTellsNullFromAnEmptyText) {
  EXPECT_EQ(lines_of<Product>(texts, fields, LineFormat::csv),
            "7,\"a \"\"b\"\", c\\d\n\x01\xC3\xA6\",-3,true,12.5\n8,\"\",0,false,-0.001\n9,,,,100\n");
}

TEST(ArrowText, FormulasAreHarmlessInASpreadsheet) {
  const auto cell = [](const std::string& json) {
    return lines_of<Product>({"{\"name\":" + json + ",\"price\":-3,\"vat_rate\":-0.5}"}, {"name", "price", "vat_rate"},
                             LineFormat::spreadsheet);
  };
  const auto of = [](const std::string& text) { return '"' + text + "\",-3,-0.5\n"; };
  EXPECT_EQ(cell("null"), ",-3,-0.5\n");
  for (const std::string text : {"", "a", "'", "a=b", "a-b", "'a", "a'=", "a,=", " =1", "a;b", "a;'b"}) {
    EXPECT_EQ(cell('"' + text + '"'), of(text));
  }
  for (const std::string text : {"=1+1", "+1", "-1", "@x", "'=1", "''@", "\uFF1D1", "\uFF0B1", "\uFF0D1", "\uFF201"}) {
    EXPECT_EQ(cell('"' + text + '"'), of('\'' + text));
    EXPECT_EQ(cell("\"a;" + text + '"'), of("a;'" + text));
  }
  EXPECT_EQ(cell(R"("\t=1")"), of("'\t'=1"));
  EXPECT_EQ(cell(R"("\ra")"), of("'\ra"));
  EXPECT_EQ(cell(R"("'\n")"), of("''\n"));
  EXPECT_EQ(cell(R"("a\r\n-1\t\t@")"), of("a\r\n'-1\t\t'@"));
  EXPECT_EQ(cell(R"("a;\"=1")"), of("a;'\"\"=1"));
  EXPECT_EQ(lines_of<Order>({R"({"metadata":{"a":";=1","b":[1,-2]}})"}, {"metadata"}, LineFormat::spreadsheet),
            "\"{\"\"a\"\":\"\";'=1\"\",\"\"b\"\":[1,-2]}\"\n");
}

TEST(ArrowText, ABatchWithoutRows) {
  const auto columns = detail::choose_columns(detail::Table::products, fields, {{"more", "text"}});
  const auto batch = detail::make_empty_batch(columns);
  EXPECT_EQ(detail::to_lines(batch, LineFormat::csv), "");
  Schema schema;
  ArrowSchemaMove(detail::export_schema(batch.columns()).get(), &schema);
  EXPECT_EQ(Reader::rows(schema, *batch.export_array()), Texts());
}

TEST(ArrowText, NestedValuesAreOnOneLineAndConstantsAreTheLastColumns) {
  const Texts items{"{\"id\":123456789012345678901234567890,\"metadata\":{\"a\":\r\n [1, 2.50],\"b\":\"\\n\"}}"};
  const std::vector<ArrowConstant> constants{{"of \"x\"", "s,1"}, {"number", std::int64_t{-7}}};
  EXPECT_EQ(lines_of<Order>(items, {"metadata", "id"}, LineFormat::jsonl, constants),
            "{\"metadata\":{\"a\":   [1, 2.50],\"b\":\"\\n\"},\"id\":\"123456789012345678901234567890\","
            "\"of \\\"x\\\"\":\"s,1\",\"number\":-7}\n");
  EXPECT_EQ(lines_of<Order>(items, {"metadata", "id"}, LineFormat::csv, constants),
            "\"{\"\"a\"\":   [1, 2.50],\"\"b\"\":\"\"\\n\"\"}\",\"123456789012345678901234567890\",\"s,1\",-7\n");
}

TEST(ArrowText, TimesAreInUtcWithSixDigits) {
  const auto line = [](const std::string& time) {
    return lines_of<Order>({"{\"created_at\":\"" + time + "\"}"}, {"created_at"}, LineFormat::csv);
  };
  EXPECT_EQ(line("2025-04-25T12:00:00+02:00"), "2025-04-25T10:00:00.000000Z\n");
  EXPECT_EQ(line("2024-02-29T23:59:59.0000104Z"), "2024-02-29T23:59:59.000010Z\n");
  EXPECT_EQ(line("0099-01-01T00:00:00.25+00:01"), "0098-12-31T23:59:00.250000Z\n");
  EXPECT_EQ(line("1969-12-31T23:59:59.9Z"), "1969-12-31T23:59:59.900000Z\n");
  EXPECT_EQ(lines_of<Order>({R"({"created_at":"2025-04-25T12:00:00Z"})"}, {"created_at"}, LineFormat::jsonl),
            "{\"created_at\":\"2025-04-25T12:00:00.000000Z\"}\n");
}

}  // namespace
}  // namespace billcore
