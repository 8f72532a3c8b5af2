// Tests how the pager reads lists from faulty services, over real sockets: which items it yields before the error,
// the text of the error, and how reading continues after the error.
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::error_of;
using test::ScriptedServer;
using Numbers = std::vector<std::int64_t>;

constexpr const char* secret = "ref-4711";

std::int64_t page_of(const std::string& head) {
  const auto at = head.find("page=");
  return at == std::string::npos ? 0 : std::stoll(head.substr(at + 5));
}

std::string page(const std::string& items, const std::string& current, const std::string& pages,
                 const std::string& total = "null") {
  return ScriptedServer::json("{\"data\":[" + items + "],\"pagination\":{\"total\":" + total + ",\"current_page\":" +
                              current + ",\"total_pages\":" + pages + ",\"links\":{\"next\":null,\"previous\":null}}}");
}

// Three items, distinct from those of other pages.
std::string items_of(std::int64_t number) {
  std::string out;
  for (std::int64_t i = 0; i < 3; ++i) {
    out += (i > 0 ? ",{\"id\":" : "{\"id\":") + std::to_string((number - 1) * 3 + i) + '}';
  }
  return out;
}

std::string good_page(std::int64_t number, std::int64_t pages) {
  return page(items_of(number), std::to_string(number), std::to_string(pages), std::to_string(pages * 3));
}

Client client_of(const ScriptedServer& server, int concurrency = 1) {
  ClientOptions options;
  options.base_url = server.url();
  options.api_key = "key_of_the_tests";
  options.max_retries = 0;
  options.concurrency = concurrency;
  return Client(options);
}

Pager<Order> orders(const Client& client, const std::optional<std::string>& resume = {}) {
  OrderQuery query;
  query.resume = resume;
  return client.subscriptions().orders(Id("s"), query);
}

std::int64_t number_of(const Order& order) { return std::stoll(order.id().text()); }

void read_on(Pager<Order>& pager, Numbers& seen) {
  while (const auto order = pager.next()) seen.push_back(number_of(*order));
}

template <typename T>
void read_on(Pager<T>& pager) {
  while (pager.next()) {
  }
}

Numbers up_to(std::int64_t end) {
  Numbers out;
  for (std::int64_t i = 0; i < end; ++i) out.push_back(i);
  return out;
}

// Tests of list errors, parametrised by concurrency.
class PagerErrors : public testing::TestWithParam<int> {};

TEST_P(PagerErrors, AnErrorOnPage57) {
  std::atomic<bool> broken{true};
  ScriptedServer server([&](const std::string& head) {
    const auto number = page_of(head);
    return number == 57 && broken ? ScriptedServer::json("null", 500) : good_page(number, 80);
  });
  const auto client = client_of(server, GetParam());
  auto pager = orders(client);
  Numbers seen;
  for (int again = 0; again < 3; ++again) {  // each attempt requests the same page again
    const auto error = error_of([&] { read_on(pager, seen); });
    EXPECT_EQ(error.code(), ErrorCode::server);
    EXPECT_EQ(error.message(), "GET /subscription/s/orders?page=57: 500 the service failed");
    EXPECT_EQ(error.detail().path, "/subscription/s/orders");
    EXPECT_EQ(seen, up_to(56 * 3));
    EXPECT_FALSE(pager.verdict());
  }
  const auto state = pager.state();
  broken = false;
  {
    const auto other = client_of(server, 9 - GetParam());
    auto rest = orders(other, state);
    auto all = seen;
    read_on(rest, all);
    EXPECT_EQ(all, up_to(80 * 3));
    EXPECT_TRUE(rest.verdict()->complete);
  }
  read_on(pager, seen);
  EXPECT_EQ(seen, up_to(80 * 3));
  EXPECT_TRUE(pager.verdict()->complete);
}

TEST_P(PagerErrors, AServerThatRepeatsPage1ForEver) {
  std::atomic<int> requests{0};
  ScriptedServer server([&](const std::string& head) {
    ++requests;
    const bool honest = head.find("/products") != std::string::npos;
    return page(items_of(1), honest ? std::to_string(page_of(head)) : "1", "1000000000");
  });
  const auto client = client_of(server, GetParam());
  auto pager = orders(client);
  Numbers seen;
  auto error = error_of([&] { read_on(pager, seen); });
  EXPECT_EQ(error.code(), ErrorCode::pagination);
  EXPECT_EQ(error.message(),
            "GET /subscription/s/orders?page=2: received page 1 instead: the service does not honour `page`");
  EXPECT_EQ(error.detail().path, "/subscription/s/orders");
  EXPECT_EQ(error.detail().method, "GET");
  EXPECT_EQ(error.detail().http_status, 200);
  EXPECT_EQ(seen, up_to(3));
  pager.stop();  // stop the prefetches: they would block the server, which serves one connection at a time
  // The server returns the requested page number, but the same records on every page.
  auto same = client.products().list();
  error = error_of([&] { read_on(same); });
  EXPECT_EQ(error.code(), ErrorCode::pagination);
  EXPECT_EQ(error.message().find("GET /products?page=3: the list repeats itself"), 0U) << error.message();
  EXPECT_EQ(error_of([&] { (void)same.next(); }).code(), ErrorCode::pagination);
  EXPECT_EQ(error_of([&] { (void)same.next_page(); }).code(), ErrorCode::pagination);
  EXPECT_LE(requests, 2 * (3 + GetParam()) + 2 * GetParam());
}

TEST_P(PagerErrors, ABillionPages) {
  std::mutex lock;
  std::set<std::int64_t> asked;
  ScriptedServer server([&](const std::string& head) {
    const std::lock_guard hold(lock);
    asked.insert(page_of(head));
    return good_page(page_of(head), 1'000'000'000);
  });
  const auto client = client_of(server, GetParam());
  auto pager = orders(client);
  EXPECT_EQ(pager.collect(10).size(), 10U);
  EXPECT_EQ(pager.verdict()->reason, "stopped");
  const std::lock_guard hold(lock);
  // The pager prefetches only a few pages. A request that was cancelled in flight may not have reached the server.
  EXPECT_LE(*asked.rbegin(), 4 + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Concurrency, PagerErrors, testing::Values(1, 8),
                         [](const auto& made) { return "of" + std::to_string(made.param); });

// An invalid answer to the request for page 2, and the expected error text after the name of the page. Further answers
// are rows of tests/fixtures/bad_input.json (list_second_…).
struct Bad {
  const char* name;
  std::string answer;
  ErrorCode code;
  const char* says;
};

class BadPage : public testing::TestWithParam<Bad> {};

TEST_P(BadPage, TheErrorNamesThePage) {
  ScriptedServer server(
      [](const std::string& head) { return page_of(head) == 2 ? GetParam().answer : good_page(page_of(head), 5); });
  auto options = ClientOptions{.base_url = server.url(), .api_key = "key_of_the_tests", .max_retries = 0};
  options.max_response = 4096;
  for (const int concurrency : {1, 8}) {
    options.concurrency = concurrency;
    auto pager = Client(options).subscriptions().list({secret});
    std::vector<std::string> seen;
    for (int again = 0; again < 2; ++again) {
      const auto error = error_of([&] {
        while (const auto item = pager.next()) seen.push_back(item->id().text());
      });
      EXPECT_EQ(error.code(), GetParam().code) << error.message();
      EXPECT_EQ(error.message().find("GET /subscriptions?page=2: "), 0U) << error.message();
      EXPECT_NE(error.message().find(GetParam().says), std::string::npos) << error.message();
      EXPECT_EQ(error.message().find(secret), std::string::npos);
      EXPECT_EQ(error.detail().path, "/subscriptions");
      EXPECT_EQ(error.detail().method, "GET");
      EXPECT_EQ(error.detail().attempts, 1);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_FALSE(pager.verdict());
    EXPECT_FALSE(pager.state().empty());
  }
}

std::string numbers(const char* current, const char* pages) { return page(items_of(2), current, pages); }

INSTANTIATE_TEST_SUITE_P(
    Answers, BadPage,
    testing::Values(
        Bad{"Empty", ScriptedServer::json(""), ErrorCode::decode, "status 200"},
        Bad{"NoNumbers", ScriptedServer::json(R"({"data":[],"pagination":{}})"), ErrorCode::decode,
            "pagination.current_page"},
        Bad{"Half", ScriptedServer::json(R"({"data":[{"id":1})"), ErrorCode::decode, "status 200"},
        Bad{"Html", ScriptedServer::json("<html>"), ErrorCode::decode, "status 200"},
        Bad{"TooLarge", ScriptedServer::json(std::string(5000, ' ')), ErrorCode::decode, "max_response"},
        Bad{"NoPage", numbers("0", "5"), ErrorCode::pagination, "received page 0 instead"},
        Bad{"OtherPage", numbers("3", "5"), ErrorCode::pagination, "received page 3 instead"},
        Bad{"HugePage", numbers("9223372036854775807", "5"), ErrorCode::pagination,
            "received page 9223372036854775807 instead"},
        Bad{"BeyondNumbers", numbers("123456789012345678901234567890", "5"), ErrorCode::out_of_range,
            "pagination.current_page"},
        Bad{"NullPage", numbers("null", "5"), ErrorCode::decode, "pagination.current_page"},
        Bad{"PagesBeyondNumbers", numbers("2", "1e30"), ErrorCode::decode, "pagination.total_pages"},
        Bad{"EmptyYetMore", page("", "2", "5"), ErrorCode::pagination, "the page is empty, yet says that there are 5"},
        Bad{"Unauthorised", ScriptedServer::json("null", 401), ErrorCode::authentication, "401"},
        Bad{"Redirect", ScriptedServer::json("", 302), ErrorCode::api, "302"},
        Bad{"NoAnswer", std::string(), ErrorCode::connection, "broke"},
        Bad{"CutOff", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"data\":", ErrorCode::connection, "incomplete"}),
    [](const auto& made) { return made.param.name; });

TEST(PagerBadInput, CountsThatCannotBe) {
  // The items of a page are yielded even when its own page count is wrong.
  for (const auto* pages : {"0", "-1", "-9223372036854775808"}) {
    ScriptedServer server([pages](const std::string& head) {
      return page(items_of(page_of(head)), std::to_string(page_of(head)), pages);
    });
    auto pager = orders(client_of(server, 8));
    Numbers seen;
    read_on(pager, seen);
    EXPECT_EQ(seen, up_to(3));
    EXPECT_EQ(pager.fetched_pages(), 1);
    EXPECT_TRUE(pager.verdict());
  }
  ScriptedServer server([](const std::string& head) { return good_page(page_of(head), INT64_MAX / 3); });
  auto pager = orders(client_of(server, 8));
  Numbers seen;
  while (seen.size() < 40) seen.push_back(number_of(*pager.next()));
  EXPECT_EQ(seen, up_to(40));
}

TEST(PagerBadInput, ATimeOutNamesTheMissingPage) {
  // The server answers only the request for page 1. The errors of a time-out and of an interrupt name the missing
  // page.
  std::atomic<bool> done{false};
  ScriptedServer server([&](const std::string& head) {
    while (page_of(head) > 1 && !done) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return good_page(page_of(head), 5);
  });
  std::atomic<bool> stop{false};
  ClientOptions options{.base_url = server.url(), .api_key = "key_of_the_tests", .max_retries = 0, .concurrency = 3};
  options.interrupt = [&] { return stop.load(); };
  const Client client(options);
  auto pager = client.subscriptions().list({secret}, {.timeout = std::chrono::milliseconds(300)});
  auto error = error_of([&] { read_on(pager); });
  // On a busy machine page 1 may be late too, and so may the other pages, once they are answered.
  for (int i = 0; i < 100 && error.message().starts_with("GET /subscriptions?page=1: no complete answer"); ++i) {
    error = error_of([&] { read_on(pager); });
  }
  EXPECT_EQ(error.code(), ErrorCode::timeout);
  EXPECT_EQ(error.message().find("GET /subscriptions?page=2: no complete answer within"), 0U) << error.message();
  EXPECT_EQ(error.detail().path, "/subscriptions");
  stop = true;
  error = error_of([&] { (void)pager.next(); });
  EXPECT_EQ(error.code(), ErrorCode::interrupted);
  EXPECT_EQ(error.message(), "GET /subscriptions?page=2: interrupted");
  EXPECT_EQ(error.detail().path, "/subscriptions");
  stop = false;
  done = true;
  decltype(pager.collect()) rest;
  for (int i = 0; i < 100 && rest.empty(); ++i) {
    try {
      rest = pager.collect();
    } catch (const Error& late) {
      EXPECT_EQ(late.code(), ErrorCode::timeout) << late.message();
    }
  }
  ASSERT_EQ(rest.size(), 12U);
  EXPECT_EQ(rest.front().id().text(), "3");
}

TEST(PagerBadInput, AStateThatCannotBeReadIsRefused) {
  ScriptedServer server([](const std::string& head) { return good_page(page_of(head), 9); });
  const auto client = client_of(server, 4);
  auto pager = orders(client);
  EXPECT_EQ(pager.collect(8).size(), 8U);
  const auto state = pager.state();
  const auto refused = [&](const std::string& text, const char* why) {
    const auto error = error_of([&] { (void)orders(client, text); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_NE(error.message().find(why), std::string::npos) << error.message();
    if (text.size() > 8) {
      EXPECT_EQ(error.message().find(text), std::string::npos) << "it is shown";
    }
  };
  for (std::size_t end = 0; end < state.size(); ++end) refused(state.substr(0, end), "not the state");
  for (std::size_t at = 0; at < state.size(); ++at) {
    auto flipped = state;
    flipped[at] = flipped[at] == 'A' ? 'B' : 'A';
    refused(flipped, "not the state");
    flipped = state;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    refused(flipped, "not the state");
  }
  for (const std::string other : {"p1.", "p2.", "p3.", "p", "1", " ", "null", "p1.====", "p1.AAAA"})
    refused(other, "not");
  for (const auto& other : {state + "=", state + "\n", state + "A", " " + state, "P3." + state.substr(3),
                            "p2." + state.substr(3), "p1." + state.substr(3)}) {
    refused(other, "not the state");
  }
  refused(state + std::string(1, '\0'), "not the state");
  const auto of_another = [&](const std::function<void()>& list) {
    const auto error = error_of(list);
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.message().find("another list"), std::string::npos) << error.message();
  };
  of_another([&] { (void)client.subscriptions().orders(Id("t"), {.resume = state}); });
  of_another([&] { (void)client.subscriptions().orders(Id("s"), {.per_page = 3, .resume = state}); });
  of_another([&] { (void)client.subscriptions().orders(Id("s"), {.states = {"paid"}, .resume = state}); });
  of_another([&] { (void)client.products().list({.resume = state}); });
  ClientOptions elsewhere{.base_url = server.url() + "2", .api_key = "key_of_the_tests"};
  of_another([&] { (void)orders(Client(elsewhere), state); });
  const auto strict =
      error_of([&] { (void)client.subscriptions().orders(Id("s"), {.strict = true, .resume = state}); });
  EXPECT_EQ(strict.code(), ErrorCode::invalid_argument);
  const auto paged = error_of([&] { (void)client.subscriptions().orders(Id("s"), {.page = 2, .resume = state}); });
  EXPECT_EQ(paged.code(), ErrorCode::invalid_argument);
  EXPECT_NE(paged.message().find("page and resume"), std::string::npos) << paged.message();
  Numbers seen = up_to(8);
  auto rest = orders(client, state);
  read_on(rest, seen);
  EXPECT_EQ(seen, up_to(27));
}

}  // namespace
}  // namespace billcore
