// Tests find_charges(), which returns the orders that a charge of unknown outcome may have made.
#include "billcore/charges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "billcore/internal.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::page_text;
using test::Server;
using Texts = std::vector<std::string>;

constexpr std::chrono::microseconds second = 1s;
const Instant noon = parse_time("2025-04-25T12:00:00Z")->at;

Error charge_error(std::string method, std::string path, std::optional<Instant> attempted_at,
                   bool outcome_unknown = true) {
  ErrorDetail detail;
  detail.method = std::move(method);
  detail.path = std::move(path);
  detail.attempted_at = attempted_at;
  detail.outcome_unknown = outcome_unknown;
  return {ErrorCode::outcome_unknown, "unknown", std::move(detail)};
}

std::string order(const std::string& id, const std::string& created_at) {
  return R"({"id":")" + id + R"(","created_at":")" + created_at + R"("})";
}

// Returns one of three pages of orders, latest first.
std::string page(const std::string& head) {
  static const std::vector<Texts> pages{{order("a", "2025-04-25T12:00:09Z"), order("b", "2025-04-25T12:00:00Z")},
                                        {order("c", "2025-04-25T13:59:58+02:00"), order("d", "2025-04-25T11:59:00Z")},
                                        {order("e", "2025-04-24T00:00:00Z")}};
  const auto number = head.at(head.find("page=") + 5) - '0';
  return Server::json(page_text({{}, number, 3, 5, pages.at(static_cast<std::size_t>(number) - 1)}));
}

Texts ids(const std::vector<Order>& orders) {
  Texts out;
  for (const auto& one : orders) out.push_back(one.id().text());
  return out;
}

TEST(FindCharges, GoesBackToTheSkewBeforeTheChargeOrToSince) {
  std::mutex mutex;
  Texts asked;  // the requested targets
  Server server([&](const std::string& head) {
    const std::lock_guard lock(mutex);
    const auto begin = head.find(' ') + 1;
    asked.push_back(head.substr(begin, head.find(' ', begin) - begin));
    return page(head);
  });
  const auto targets = [&] {
    const std::lock_guard lock(mutex);
    return std::exchange(asked, {});
  };
  const Client client(server.options());
  const auto subscriptions = client.subscriptions();
  const auto error = charge_error("POST", "/subscription/a%2Fb%20c/order", noon);
  EXPECT_EQ(ids(subscriptions.find_charges(error, 0us)), (Texts{"a", "b"}));
  EXPECT_EQ(targets().front(), "/acct/subscription/a%2Fb%20c/orders?page=1&per_page=200");
  const auto later = charge_error("POST", "/subscription/s/order", noon + second - 1us);
  EXPECT_EQ(ids(subscriptions.find_charges(later, 0us)), (Texts{"a", "b"}));
  EXPECT_EQ(ids(subscriptions.find_charges(error, 2s)), (Texts{"a", "b", "c"}));
  EXPECT_EQ(ids(subscriptions.find_charges(error)), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(subscriptions.find_charges(error, std::chrono::hours(100)).size(), 5U);
  const auto all = std::chrono::microseconds::max();
  EXPECT_EQ(subscriptions.find_charges(charge_error("POST", "/subscription/s/order", Instant(-second)), all).size(),
            5U);
  EXPECT_EQ(ids(subscriptions.find_charges(error, 0us, 7)), (Texts{"a", "b"}));
  EXPECT_EQ(targets().back(), "/acct/subscription/a%2Fb%20c/orders?page=2&per_page=200&filter%5Bproduct_id%5D=7");

  EXPECT_EQ(ids(subscriptions.find_charges("s", noon)), (Texts{"a", "b"}));
  // find_charges() reads no page after the one that has an order older than the charge. find_charges() reads a list of
  // several pages twice.
  EXPECT_EQ(targets().size(), 4U);
  // find_charges() allows for a service that truncates its times to whole seconds.
  EXPECT_EQ(ids(subscriptions.find_charges("s", noon + second - 1us)), (Texts{"a", "b"}));
  EXPECT_EQ(targets().size(), 4U);
  EXPECT_EQ(ids(subscriptions.find_charges("s", noon + second)), Texts{"a"});
  EXPECT_EQ(targets().size(), 1U) << "one page that reaches an older order is proof";
  EXPECT_EQ(subscriptions.find_charges("s", Instant::min()).size(), 5U);
  EXPECT_TRUE(subscriptions.find_charges("s", Instant::max()).empty());
}

TEST(FindCharges, RefusesOtherErrors) {
  Server server([](const std::string&) -> std::string { throw std::logic_error("nothing is to be sent"); });
  const Client client(server.options());
  const std::vector<std::pair<Error, const char*>> wrong{
      {charge_error("POST", "/subscription/s/cancel", noon), "not about a charge"},
      {charge_error("GET", "/subscription/s/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/a/b/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription//order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/%zz/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/%2e%2e/order", noon), "the id is a relative path segment"},
      {charge_error("POST", "/subscription/s/order", noon, false), "is known"},
      {charge_error("POST", "/subscription/s/order", std::nullopt), "does not say when"}};
  for (const auto& [error, words] : wrong) {
    const auto refused = error_of([&] { (void)client.subscriptions().find_charges(error); });
    EXPECT_EQ(refused.code(), ErrorCode::invalid_argument) << error.detail().path;
    EXPECT_NE(refused.message().find(words), std::string::npos) << refused.message();
  }
  const auto charge = charge_error("POST", "/subscription/s/order", noon);
  const auto negative = error_of([&] { (void)client.subscriptions().find_charges(charge, -1us); });
  EXPECT_EQ(negative.code(), ErrorCode::invalid_argument);
}

// A service whose list changes while it is read: each request is answered from the next text in `lists`. Each digit of
// a text in `lists` is an order; the latest order is the first digit, and a page has two orders. Each digit is both
// the order's id and the seconds of the order's time.
class Moving {
 public:
  explicit Moving(std::vector<std::string> lists, std::string total = {})
      : lists_(std::move(lists)), total_(std::move(total)) {}
  [[nodiscard]] std::string answer(const std::string& head) {
    const std::lock_guard lock(mutex_);
    const auto& list = lists_.at(std::min(asked_++, lists_.size() - 1));
    const auto number = static_cast<std::size_t>(head.at(head.find("page=") + 5) - '0');
    Texts items;
    for (const char id : list.substr(std::min(list.size(), number * 2 - 2), 2)) {
      items.push_back(order({id}, std::string("2025-04-25T12:00:0").append(1, id).append("Z")));
    }
    const auto size = static_cast<std::int64_t>(list.size());
    auto text = page_text({{}, static_cast<std::int64_t>(number), (size + 1) / 2, size, std::move(items)});
    if (!total_.empty()) text.replace(text.find("\"total\":") + 8, std::to_string(size).size(), total_);
    return Server::json(text);
  }
  [[nodiscard]] std::size_t asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lists_;
  std::string total_;
  std::size_t asked_ = 0;
};

struct MovingCase {
  const char* name;
  std::vector<std::string> lists;
  Texts found;
  std::size_t asked;
  std::string total = {};
};

TEST(FindCharges, ReadsAgainUntilNothingCanBeMissing) {
  // Deleting order 4 moves order 3 to page 1, which was already read, so only a second reading finds order 3.
  const std::vector<MovingCase> cases{
      {"one page", {"54"}, {"5", "4"}, 1},
      {"nothing moves", {"5432"}, {"5", "4", "3", "2"}, 4},
      {"deleted between two pages", {"54321", "5321"}, {"5", "3", "2", "1"}, 6},
      {"added between two pages", {"54321", "654321"}, {"6", "5", "4", "3", "2", "1"}, 9},
      {"deleted in the second reading", {"54321", "54321", "54321", "54321", "5321"}, {"5", "3", "2", "1"}, 9},
      {"shrinks to one page", {"543", "54"}, {"5", "4"}, 3},
      {"no readable total", {"5432"}, {"5", "4", "3", "2"}, 4, "null"},
      {"a page without a readable total", {"54"}, {"5", "4"}, 1, "\"2\""},
  };
  for (const auto& each : cases) {
    Moving moving(each.lists, each.total);
    Server server([&moving](const std::string& head) { return moving.answer(head); });
    EXPECT_EQ(ids(Client(server.options()).subscriptions().find_charges("s", noon)), each.found) << each.name;
    EXPECT_EQ(moving.asked(), each.asked) << each.name;
  }
}

void expect_unproven(Server::Answer answer, const Texts& found, ErrorCode cause, const char* words) {
  Server server(std::move(answer));
  const auto error = error_of([&] { (void)Client(server.options()).subscriptions().find_charges("s", noon); });
  EXPECT_EQ(error.code(), ErrorCode::possibly_missed) << error.message();
  EXPECT_EQ(error.detail().cause, cause) << error.message();
  EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
  ASSERT_NE(error.detail().found, nullptr);
  Texts seen;
  for (const auto& one : *error.detail().found) seen.push_back(Order(one).id().text());
  EXPECT_EQ(seen, found);
}

TEST(FindCharges, SaysWhatItFoundWhenOrdersMayBeMissing) {
  std::vector<std::string> endless;
  for (int i = 0; i < 20; ++i) endless.emplace_back(i % 2 == 0 ? "9876" : "98765");
  struct Unproven {
    std::vector<std::string> lists;
    std::string total;
    Texts found;
    const char* words;
  };
  for (const auto& each : std::vector<Unproven>{
           {endless, "", {"9", "8", "7", "6"}, "changed each time"},
           {{"54"}, "3", {"5", "4"}, "has 3 orders and gave 2"},
           {{"5432"}, "5", {"5", "4", "3", "2"}, "has 5 orders and gave 4"},
       }) {
    Moving moving(each.lists, each.total);
    expect_unproven([&](const std::string& head) { return moving.answer(head); }, each.found, ErrorCode::pagination,
                    each.words);
  }
  const Texts whole{"5", "4", "3", "2", "1"};
  for (const int fails_at : {2, 3, 4}) {
    Moving moving({"54321"});
    int asked = 0;
    const auto answer = [&](const std::string& head) {
      return ++asked == fails_at ? Server::json("", 503) : moving.answer(head);
    };
    expect_unproven(answer, {whole.begin(), whole.begin() + std::min(5, 2 * (fails_at - 1))}, ErrorCode::server, "503");
  }
}

std::string text_of(Instant instant, const char* format) {
  const auto seconds = std::chrono::system_clock::to_time_t(instant);
  std::array<char, 60> text{};
  std::tm parts{};
  (void)std::strftime(text.data(), text.size(), format, gmtime_r(&seconds, &parts));
  return text.data();
}

// The service's clock is an hour behind the local clock, so the order looks older than the charge that made it.
TEST(FindCharges, CountsFromTheEarlierOfTwoClocks) {
  const auto local = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const auto service = local - std::chrono::hours(1);
  const auto made = std::chrono::floor<std::chrono::seconds>(service);
  const auto at = [](Instant instant) { return text_of(instant, "%Y-%m-%dT%H:%M:%SZ"); };
  const auto list = page_text({{}, 1, 1, 2, {order("made", at(made)), order("old", at(made - std::chrono::hours(1)))}});
  Server server([&](const std::string& head) {
    return head.starts_with("POST") ? std::string()
                                    : Server::json(list, 200, text_of(service, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n"));
  });
  const Client client(server.options());
  const auto charge = [&] { (void)client.subscriptions().charge("s", {.product_id = 1, .amount = 5}); };
  const auto first = error_of(charge);
  EXPECT_FALSE(first.detail().service_time) << "no answer has come yet";
  EXPECT_EQ(ids(client.subscriptions().find_charges(first, 5s)), Texts{"made"}) << "the first page has a Date";
  const auto second_charge = error_of(charge);
  ASSERT_TRUE(second_charge.detail().service_time);
  EXPECT_LE(*second_charge.detail().service_time, *second_charge.detail().attempted_at - std::chrono::minutes(59));
  EXPECT_EQ(ids(client.subscriptions().find_charges(second_charge, 5s)), Texts{"made"});
}

TEST(FindCharges, TheTimeOutBoundsTheWholeSearch) {
  Moving moving({"54321"});
  Server server([&moving](const std::string& head) { return moving.answer(head); });
  const Client client(server.options());
  auto search = operations::find_charges("s", noon, {});
  EXPECT_EQ(search.time_left(), no_timeout);
  search.limit(1ms);
  std::this_thread::sleep_for(2ms);
  const auto first = search.next();
  ASSERT_TRUE(first) << "its request has the time-out's error";
  internal::send(client, *first, {}, [&search](Completed& completed) { search.take(completed); });
  EXPECT_EQ(search.time_left(), 1ms);
  EXPECT_FALSE(search.next());
  const auto error = error_of([&] { (void)search.result(); });
  EXPECT_EQ(error.code(), ErrorCode::possibly_missed);
  EXPECT_EQ(error.detail().cause, ErrorCode::timeout);
  EXPECT_EQ(error.detail().found->size(), 2U);
  CallOptions call;
  call.timeout = 0ms;
  const auto refused = error_of([&] { (void)client.subscriptions().find_charges("s", noon, {}, call); });
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
}

// Orders are made, deleted and restored between any two requests. find_charges() must return every order that was
// present all the time, or report that orders may be missing.
TEST(FindCharges, NeverLosesAnOrderSilently) {
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same lists in each run
  const auto below = [&random](unsigned most) { return static_cast<std::size_t>(random() % most); };
  int proven = 0;
  for (int run = 0; run < 20'000; ++run) {
    const bool has_total = below(3) != 0;
    const std::size_t size = 2 + below(3);
    const auto restless = static_cast<unsigned>(2 + below(4));
    std::vector<int> list;  // orders, latest first; a smaller number is a newer order
    for (int i = 0; i < static_cast<int>(2 + below(10)); ++i) list.push_back(i);
    std::set<int> always(list.begin(), list.end());
    std::vector<int> gone;
    int newest = 0;
    auto search = operations::find_charges("s", noon, {});
    while (const auto request = search.next()) {
      const auto first = (static_cast<std::size_t>(request->page) - 1) * size;
      const auto shown = std::min(list.size(), first + size);
      Texts items;
      for (auto i = first; i < shown; ++i) items.push_back(order(std::to_string(list[i]), "2025-04-25T12:30:00Z"));
      const auto pages = std::max<std::size_t>(1, (list.size() + size - 1) / size);
      search.take(test::parse(page_text({{},
                                         request->page,
                                         static_cast<std::int64_t>(pages),
                                         has_total ? static_cast<std::int64_t>(list.size()) : -1,
                                         std::move(items)}))
                      .document());
      switch (below(restless)) {
        case 0:
          list.insert(list.begin(), --newest);
          break;
        case 1:
          if (list.size() > 1) {
            const auto at = list.begin() + static_cast<std::ptrdiff_t>(below(static_cast<unsigned>(list.size())));
            always.erase(*at);
            gone.push_back(*at);
            list.erase(at);
          }
          break;
        case 2:  // restores a deleted order; the search may miss such an order if there is no total
          if (has_total && !gone.empty()) {
            list.insert(std::lower_bound(list.begin(), list.end(), gone.back()), gone.back());
            gone.pop_back();
          }
          break;
        default:
          break;
      }
    }
    try {
      const auto found = ids(search.result());
      ++proven;
      for (const int one : always) {
        ASSERT_TRUE(std::find(found.begin(), found.end(), std::to_string(one)) != found.end()) << "run " << run;
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::possibly_missed);
    }
  }
  EXPECT_GT(proven, 1'000);
}

}  // namespace
}  // namespace billcore
