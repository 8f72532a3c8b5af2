// Tests the joining of pages into larger Arrow batches.
#include <gtest/gtest.h>

#include "arrow/arrow_columns.hpp"
#include "arrow/arrow_reader.hpp"
#include "billcore/arrow.hpp"
#include "billcore/error.hpp"
#include "billcore/internal.hpp"
#include "paging/page_flow.hpp"

namespace billcore {
namespace {

using namespace test::arrow;

/// The rows of each batch that `reader` makes of a list.
std::vector<Texts> batches_of(detail::BatchReader& reader, detail::PageFlow& list) {
  std::vector<Texts> out;
  while (const auto batch = reader.read(list)) {
    Schema schema;
    ArrowSchemaMove(detail::export_schema(batch->columns()).get(), &schema);
    out.push_back(Reader::rows(schema, *batch->export_array()));
  }
  return out;
}

TEST(ArrowJoin, JoinedPagesHaveTheRowsOfTheirPages) {
  const auto whole = R"({"id":7,"name":"\u00e6","vat_rate":12.5,"use_cart":true,"images":[1],"price":3})";
  const std::vector<Texts> pages{{R"({"id":1,"name":"a","use_cart":false,"price":1})", R"({"id":2})"},
                                 {R"({"id":3,"name":"","vat_rate":0,"images":[]})"},
                                 {whole, R"({"id":5,"name":null,"use_cart":null})", R"({"id":6,"use_cart":true})"}};
  const auto columns = detail::choose_columns(detail::Table::products,
                                              Texts{"id", "name", "vat_rate", "use_cart", "images", "price", "raw"});
  Texts each;
  for (const auto& page : pages) {
    for (const auto& row : rows_of<Product>(page, detail::column_names(*columns))) each.push_back(row);
  }
  const std::vector<std::pair<std::size_t, std::vector<std::size_t>>> sizes{
      {1, {2, 1, 3}}, {2, {2, 1, 3}}, {3, {3, 3}}, {4, {3, 3}}, {5, {3, 3}}, {6, {6}}, {100, {6}}};
  for (const auto& [rows, wanted] : sizes) {
    auto pager = pager_of<Product>(pages);
    detail::BatchReader reader(columns, rows);
    Texts all;
    std::vector<std::size_t> found;
    for (const auto& batch : batches_of(reader, *internal::Access::flow(pager))) {
      found.push_back(batch.size());
      all.insert(all.end(), batch.begin(), batch.end());
    }
    EXPECT_EQ(found, wanted) << rows;
    EXPECT_EQ(all, each) << rows;
    EXPECT_TRUE(pager.verdict()->complete);
  }
}

TEST(ArrowJoin, BatchesWithDifferentColumnsAreRefused) {
  const auto one = detail::make_rows({"id", "total"}, {{"a", std::int64_t{1}}});
  const auto two = detail::make_rows({"id", "total"}, {{"b", std::int64_t{2}}, {"c", std::int64_t{3}}});
  EXPECT_EQ(detail::join({one, two}).rows(), 3);
  for (const auto& other : {detail::make_rows({"id"}, {{"b"}}), detail::make_rows({"id", "total"}, {{"b", "2"}}),
                            detail::make_rows({"id", "sum"}, {{"b", std::int64_t{2}}})}) {
    EXPECT_THROW(static_cast<void>(detail::join({one, other})), Error);
  }
}

TEST(ArrowJoin, BatchesOfAStreamGrow) {
  std::vector<Texts> pages;
  for (int page = 0; page < 20; ++page) pages.push_back({"{\"id\":" + std::to_string(page) + "}"});
  const auto pager = pager_of<Order>(pages);
  Reader reader;
  export_arrow(pager, reader.stream(), Texts{"id"});
  std::vector<std::size_t> sizes;
  for (auto rows = reader.next(); !rows.empty(); rows = reader.next()) sizes.push_back(rows.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 2, 4, 8, 4}));
}

TEST(ArrowJoin, AFailureEndsAJoinedBatchAndIsReportedByTheNext) {
  const auto columns = detail::choose_columns(detail::Table::orders, Texts{"total"});
  const std::vector<Texts> pages{{R"({"id":1,"total":1})"}, {R"({"id":2,"total":2})"}, {R"({"id":3,"total":3})"}};
  auto pager = pager_of<Order>(pages, {3});
  auto& list = *internal::Access::flow(pager);
  detail::BatchReader reader(columns, 100);
  EXPECT_EQ(reader.read(list)->rows(), 2);
  EXPECT_THROW(static_cast<void>(reader.read(list)), Error);
  EXPECT_EQ(reader.read(list)->rows(), 1);
  EXPECT_FALSE(reader.read(list).has_value());
  EXPECT_TRUE(pager.verdict()->complete);
}

}  // namespace
}  // namespace billcore
