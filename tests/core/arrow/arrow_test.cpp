// Tests the export of lists as Arrow columns, with pages that the test makes, without a network.
#include "billcore/arrow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "arrow/arrow_columns.hpp"
#include "arrow/arrow_reader.hpp"
#include "billcore/error.hpp"
#include "billcore/internal.hpp"
#include "paging/page_flow.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace billcore {
namespace {

using namespace test::arrow;

template <typename T>
std::string problem_of(const std::string& item, const std::string& field) {
  Reader reader;
  export_arrow(pager_of<T>({{R"({"id":1})", item}}), reader.stream(), Texts{field});
  EXPECT_TRUE(reader.next().empty());
  EXPECT_EQ(reader.status, EINVAL);
  const std::string page = "GET ?page=1: ";
  EXPECT_EQ(reader.problem.substr(0, page.size()), page);
  return reader.problem.substr(std::min(page.size(), reader.problem.size()));
}

TEST(Arrow, ColumnsAreTheFieldsOfTheInterface) {
  const auto rows = *test::parse_fixture("fields.json").find("rows");
  const std::vector<std::pair<std::string, detail::Table>> tables{{"Subscription", detail::Table::subscriptions},
                                                                  {"Order", detail::Table::orders},
                                                                  {"Product", detail::Table::products}};
  for (const auto& [resource, table] : tables) {
    Texts wanted;
    for (const auto row : rows) {
      if (row.value().find("resource")->text() == resource) wanted.emplace_back(row.value().find("field")->text());
    }
    EXPECT_GT(wanted.size(), 10U);
    std::erase_if(wanted, [](const std::string& name) {  // signed URLs of the billing portal
      return name == "update_card_url" || name == "invoices_url" || name == "cancel_url";
    });
    wanted.emplace_back("more");
    EXPECT_EQ(detail::column_names(*detail::choose_columns(table, std::nullopt)), wanted);
  }
}

TEST(Arrow, TypesDoNotDependOnTheData) {
  Reader reader;
  export_arrow(pager_of<Product>({{}}), reader.stream(), Texts{"id", "name", "vat_rate", "use_cart", "images", "raw"});
  Schema schema;
  ASSERT_EQ(reader.stream()->get_schema(reader.stream(), &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_EQ(schema.flags & ARROW_FLAG_NULLABLE, 0);
  Texts formats;
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    formats.push_back(std::string(schema.children[i]->name) + ' ' + schema.children[i]->format);
    EXPECT_NE(schema.children[i]->flags & ARROW_FLAG_NULLABLE, 0);
  }
  EXPECT_EQ(formats, (Texts{"id l", "name u", "vat_rate d:38,18", "use_cart b", "images u", "raw u"}));
  EXPECT_TRUE(reader.next().empty());
  EXPECT_EQ(reader.status, 0);
  Reader times;
  export_arrow(pager_of<Order>({{}}), times.stream(), Texts{"created_at"});
  Schema of_times;
  ASSERT_EQ(times.stream()->get_schema(times.stream(), &of_times), 0);
  EXPECT_STREQ(of_times.children[0]->format, "tsu:UTC");
}

TEST(Arrow, Values) {
  EXPECT_EQ(rows_of<Subscription>(
                {R"({"id":"s","price":1500,"created_at":"2025-04-25T12:00:00.25+02:00","metadata":{"a": [1, 2.50]}})",
                 R"({"metadata":{},"created_at":null,"price":-9223372036854775808,"id":7,"news":[1]})",
                 R"({"id":123456789012345678901234567890,"price":1,"price":null,"metadata":[ ]})"},
                Texts{"price", "id", "created_at", "metadata"}),
            (Texts{R"(1500|s|1745575200250000|{"a": [1, 2.50]})", "-9223372036854775808|7|null|{}",
                   "null|123456789012345678901234567890|null|[ ]"}));
  EXPECT_EQ(
      rows_of<Product>({R"({"id":1,"use_cart":true,"out_of_stock":false,"vat_rate":12.5,"name":"Caf\u00e9 \u0000"})",
                        R"({"vat_rate":25,"use_cart":null})"},
                       Texts{"id", "use_cart", "out_of_stock", "vat_rate", "name"}),
      (Texts{std::string("1|1|0|12500000000000000000|Caf\xC3\xA9 \0", 34),
             "null|null|null|25000000000000000000|null"}));
  // Exports several nested columns in an order that differs from their order in the document.
  const std::string item = R"({"images":[{"a":1}],"vat_rate":1e1,"strings":{"b":"}"},"x":[[3]]})";
  const auto row = R"({"b":"}"}|[{"a":1}]|)" + item + "|10000000000000000000";
  EXPECT_EQ(
      rows_of<Product>({item, item, R"({"strings":"s","images":7.50})"}, Texts{"strings", "images", "raw", "vat_rate"}),
      (Texts{row, row, R"("s"|7.50|{"strings":"s","images":7.50}|null)"}));
}

TEST(Arrow, TextAsReceivedWhateverIsAroundIt) {
  const Texts items{
      "{}",
      "{ \n\t\"id\" :1 , \"metadata\" : {\"a\" : [ 1 ] } }",
      R"({"\u0069d":2,"met\u0061data":[1.50],"x\"":{"metadata":[2]}})",
      R"({"\u0069d":3,"metadata":"\u0061}\"","delivery":-0.0e0})",
      R"({"id":4,"metadata":{"b":1},"delivery":{},"metadata":{"c":2}})",
      R"({"delivery":[[]],"id":5,"metadata":true})",
  };
  EXPECT_EQ(rows_of<Order>(items, Texts{"raw", "metadata", "delivery"}),
            (Texts{items[0] + "|null|null", items[1] + "|{\"a\" : [ 1 ] }|null", items[2] + "|[1.50]|null",
                   items[3] + R"(|"\u0061}\""|-0.0e0)", items[4] + R"(|{"c":2}|{})", items[5] + "|true|[[]]"}));
  EXPECT_EQ(rows_of<Order>(items, Texts{"delivery", "id", "metadata"}),
            (Texts{"null|null|null", "null|1|{\"a\" : [ 1 ] }", "null|2|[1.50]", R"(-0.0e0|3|"\u0061}\"")",
                   R"({}|4|{"c":2})", "[[]]|5|true"}));
}

TEST(Arrow, UnknownMembersAreKeptInOneColumn) {
  const Texts fields{"id", "more"};
  EXPECT_EQ(rows_of<Order>(
                {R"({"id":"1","total":2,"metadata":{"a":1}})", R"({"id":"2","a":1,"total":3})",
                 R"({"a":{"b": [1.50,null]},"id":"3","more":"m","raw":true,"update_card_url":0})",
                 "{\"id\":\"4\" , \"\\u0061\\\"\" : \"\\u00e6\" }", R"({"a":1,"id":"5","b":[],"a":2,"id":"6"})", "{}"},
                fields),
            (Texts{"1|null", R"(2|{"a":1})", R"(3|{"a":{"b": [1.50,null]},"more":"m","raw":true,"update_card_url":0})",
                   R"(4|{"\u0061\"" : "\u00e6"})", R"(6|{"b":[],"a":2})", "null|null"}));
  EXPECT_EQ(rows_of<Subscription>({R"({"a":1,"id":"1","cancel_url":"https://x/?s=1"})"}, Texts{"more"}),
            Texts{R"({"a":1})"});
  EXPECT_EQ(rows_of<Product>({R"({"id":1,"a":1})", R"({"id":2,"a":2})"}, Texts{"raw", "more"}),
            (Texts{R"({"id":1,"a":1}|{"a":1})", R"({"id":2,"a":2}|{"a":2})"}));
}

TEST(Arrow, UrlsWithAQueryAreNotAmongUnknownMembersUnlessPortalUrlsAreAskedFor) {
  const auto more = [](const std::string& value, const Texts& fields = {"more"}) {
    const auto row = rows_of<Subscription>({"{\"id\":\"1\",\"new\":" + value + "}"}, fields).at(0);
    return row.substr(row.find("\"new\":") + 6);
  };
  const std::string redacted = R"("[redacted]"})";
  for (const std::string url :
       {R"("https://x.dk/a?sig=1")", R"("HTTPS:\/\/x.dk\/a?sig=1")", R"("https://x.dk/a\u003fsig=1")",
        R"("//x.dk or http://x.dk/?")", R"("app://x?s")", R"("{\"a\":\"https:\\/\\/x.dk\\/?s=1\"}")",
        R"("https%3A%2F%2Fx.dk%2F%3Fsig%3D1")", R"("<a href='https://x.dk/a?b=1&amp;sig=1'>")"}) {
    EXPECT_EQ(more(url), redacted) << url;
    EXPECT_EQ(more("[1,{\"a\":" + url + ",\"b\":\"c?\"}]"), "[1,{\"a\":\"[redacted]\",\"b\":\"c?\"}]}") << url;
    for (const std::string field : {"update_card_url", "invoices_url", "cancel_url"}) {
      EXPECT_EQ(more(url, {field, "more"}), url + '}');
    }
  }
  for (const std::string text : {R"("https://x.dk/a")", R"("See https://x.dk/a. Why?")", R"("a?b\\")", R"("50 %")"}) {
    EXPECT_EQ(more(text), text + '}') << text;
  }
  EXPECT_EQ(more(R"({"https://x.dk/?s=1":2})"), "{\"[redacted]\":2}}");
}

TEST(Arrow, DecimalsKeepEveryDigit) {
  const std::string zeros(18, '0');
  const auto scaled = [](std::string_view number) { return detail::scaled_digits(number).value_or("none"); };
  EXPECT_EQ(scaled("0"), "0");
  EXPECT_EQ(scaled("-0.000"), "0");
  EXPECT_EQ(scaled("25"), "25" + zeros);
  EXPECT_EQ(scaled("-12.5"), "-12500000000000000000");
  EXPECT_EQ(scaled("0.000000000000000001"), "1");
  EXPECT_EQ(scaled("0.0000000000000000010000"), "1");
  EXPECT_EQ(scaled("0.0000000000000000001"), "none");
  EXPECT_EQ(scaled("1.25E+1"), "12500000000000000000");
  EXPECT_EQ(scaled("1250e-2"), "12500000000000000000");
  EXPECT_EQ(scaled("99999999999999999999"), "99999999999999999999" + zeros);
  EXPECT_EQ(scaled("100000000000000000000"), "none");
  EXPECT_EQ(scaled("1e20"), "none");
  EXPECT_EQ(scaled("0e99999999999999999999"), "0");
  EXPECT_EQ(scaled("1e99999999999999999999"), "none");
  EXPECT_EQ(scaled("1e-99999999999999999999"), "none");
}

TEST(Arrow, WrongTypesAreSaidWithTheirPath) {
  EXPECT_EQ(problem_of<Order>(R"({"total":"1500"})", "total"), "data[1].total is a string, not an integer");
  EXPECT_EQ(problem_of<Order>(R"({"total":1500.0})", "total"), "data[1].total is a number, not an integer");
  EXPECT_NE(problem_of<Order>(R"({"total":9223372036854775808})", "total").find("data[1].total"), std::string::npos);
  EXPECT_EQ(problem_of<Order>(R"({"currency":7})", "currency"), "data[1].currency is an integer, not a string");
  EXPECT_EQ(problem_of<Order>(R"({"created_at":"soon"})", "created_at"),
            "data[1].created_at is not an ISO 8601 date-time");
  EXPECT_NE(problem_of<Order>(R"({"id":{}})", "id").find("data[1].id is an object"), std::string::npos);
  EXPECT_EQ(problem_of<Product>(R"({"use_cart":1})", "use_cart"), "data[1].use_cart is an integer, not a boolean");
  EXPECT_NE(problem_of<Product>(R"({"vat_rate":"25"})", "vat_rate").find("data[1].vat_rate is a string"),
            std::string::npos);
  EXPECT_NE(problem_of<Product>(R"({"vat_rate":1e30})", "vat_rate").find("data[1].vat_rate has more digits"),
            std::string::npos);
}

TEST(Arrow, AnItemThatIsNoObjectIsToldOfOnce) {
  auto pager = pager_of<Order>({{R"({"id":1})", "[]", "7"}, {R"({"id":2})"}});
  Reader reader;
  export_arrow(pager, reader.stream(), Texts{"id"});
  for (const auto* const says : {"data[1] is an array, not an object", "data[2] is an integer, not an object"}) {
    EXPECT_TRUE(reader.next().empty());
    EXPECT_EQ(reader.status, EINVAL);
    EXPECT_NE(reader.problem.find(says), std::string::npos) << reader.problem;
  }
  EXPECT_EQ(reader.next(), Texts{"1"});
  EXPECT_EQ(reader.next(), Texts{"2"});
  EXPECT_TRUE(reader.next().empty());
  EXPECT_EQ(pager.verdict()->reason, "undecodable_item");
}

TEST(Arrow, WhatCannotBeAColumnLeavesThePagerBeforeItsPage) {
  auto pager = pager_of<Order>({{R"({"id":1,"total":1})"}, {R"({"id":2,"total":2})", R"({"id":3,"total":"x"})"}});
  Reader totals;
  export_arrow(pager, totals.stream(), Texts{"total"});
  EXPECT_EQ(totals.next(), Texts{"1"});
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(totals.next().empty());
    EXPECT_EQ(totals.status, EINVAL);
  }
  totals.release();
  EXPECT_EQ(pager.verdict()->reason, "stopped");
  Reader ids;
  export_arrow(pager, ids.stream(), Texts{"id"});
  EXPECT_EQ(ids.next(), (Texts{"2", "3"}));
  EXPECT_TRUE(ids.next().empty());
  EXPECT_TRUE(pager.verdict()->complete);
}

TEST(Arrow, NamesAreChecked) {
  const auto error = [](const ArrowFields& fields) {
    return test::error_of([&] { static_cast<void>(detail::choose_columns(detail::Table::orders, fields)); });
  };
  const auto unknown = error(Texts{"id", "price\nx"});
  EXPECT_EQ(unknown.code(), ErrorCode::invalid_argument);
  EXPECT_NE(unknown.message().find("fields[1] is not a column of orders: there are id, created_at,"),
            std::string::npos);
  EXPECT_EQ(unknown.message().find('\n'), std::string::npos);
  EXPECT_EQ(error(Texts{}).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error(Texts{"id", "id"}).message(), "fields has id twice: name each column once");
}

TEST(Arrow, AnErrorOnTheWay) {
  auto pager = pager_of<Order>({{R"({"id":1})"}, {R"({"id":2})"}, {R"({"id":3})"}}, {2});
  Reader reader;
  export_arrow(pager, reader.stream(), Texts{"id"});
  EXPECT_EQ(reader.next(), Texts{"1"});
  EXPECT_TRUE(reader.next().empty());
  EXPECT_EQ(reader.status, EIO);
  EXPECT_EQ(reader.problem, "the service answered 500");
  EXPECT_EQ(reader.next(), Texts{"2"});
  EXPECT_EQ(reader.stream()->get_last_error(reader.stream()), nullptr);
  EXPECT_EQ(reader.next(), Texts{"3"});
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(reader.next().empty());
    EXPECT_EQ(reader.status, 0);
  }
  EXPECT_TRUE(pager.verdict()->complete);
}

TEST(Arrow, AStreamHasTheUnreadItemsAndOnlyNewOnes) {
  const Texts known{R"({"id":1,"total":1})", R"({"id":2,"total":2})"};
  auto pager = pager_of<Order>({known, known, {}, {R"({"id":3,"total":3})"}});
  EXPECT_EQ(pager.next()->total(), 1);
  Reader reader;
  export_arrow(pager, reader.stream(), Texts{"total"});
  EXPECT_EQ(reader.next(), Texts{"2"});
  // Page 3 is empty, but states that more pages follow.
  EXPECT_TRUE(reader.next().empty());
  EXPECT_EQ(reader.status, EINVAL);
}

TEST(Arrow, UnreadStreamsDoNotStopTheReading) {
  auto pager = pager_of<Order>({{R"({"id":1})"}, {R"({"id":2})"}});
  Reader unread;
  export_arrow(pager, unread.stream());
  unread.release();
  EXPECT_FALSE(pager.verdict());
}

TEST(Arrow, ABatchMayBeReadAgainAndItsPartsTakenAway) {
  const auto pager = pager_of<Order>({{R"({"id":1,"total":5})"}});
  auto& list = *internal::Access::flow(pager);
  ASSERT_EQ(list.advance(), detail::Step::taken);
  const auto columns = detail::choose_columns(detail::Table::orders, Texts{"id", "total"});
  auto batch = detail::take_batch(list, columns);
  EXPECT_FALSE(detail::take_batch(list, columns));
  ASSERT_EQ(batch->rows(), 1);
  auto schema = detail::export_schema(*columns);
  auto once = batch->export_array();
  const auto again = batch->export_array();
  Array total;
  ArrowArrayMove(once->children[1], &total);
  once.reset();
  Reader stream;
  ArrowArrayStreamMove(batch->export_stream().get(), stream.stream());
  batch.reset();
  EXPECT_EQ(Reader::rows(*schema, *again), Texts{"1|5"});
  EXPECT_EQ(static_cast<const std::int64_t*>(total.buffers[1])[0], 5);
  EXPECT_EQ(stream.next(), Texts{"1|5"});
  EXPECT_TRUE(stream.next().empty());
}

}  // namespace
}  // namespace billcore
