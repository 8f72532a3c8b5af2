// The story: a program that shows the life of a subscription. The sibling folders contain the same program in
// other languages.
//
// The program needs a running sandbox (examples/quickstart.sh starts one), which it finds through the environment
// variables BILLCORE_BASE_URL, BILLCORE_API_KEY and BILLCORE_SANDBOX_CONTROL. It exits with status 1 if a check
// fails.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/webhook.hpp"
#include "control.hpp"
#include "inbox.hpp"
#include "listener.hpp"

using billcore::Client;
using billcore::Error;
using billcore::ErrorCode;
using billcore::Order;
using billcore::Product;
using billcore::Subscription;

namespace {

void expect(bool truth, const char* claim) {
  if (!truth) throw std::logic_error(std::string("check failed: ") + claim);
}

[[noreturn]] void fail(const char* claim) {
  expect(false, claim);
  std::abort();
}

void step(int number, const char* title) { std::printf("%2d. %s\n", number, title); }

void say(const std::string& line) { std::printf("    %s\n", line.c_str()); }

std::string text(std::string_view view) { return std::string(view); }

std::string money(std::int64_t cents, std::string_view currency) {
  const auto fraction = std::to_string(100 + cents % 100).substr(1);
  return std::to_string(cents / 100) + "." + fraction + " " + text(currency);
}

std::string date(const billcore::Time& time) { return text(time.text.substr(0, 10)); }

std::vector<Product> list_products(const Client& client) {
  step(1, "List the products");
  auto pager = client.products().list();
  auto products = pager.collect();
  const bool complete = pager.verdict() && pager.verdict()->complete;
  say(std::to_string(products.size()) + " products on " + std::to_string(pager.fetched_pages()) +
      " pages; the list is " + (complete ? "complete" : "possibly_missed"));
  expect(pager.fetched_pages() > 1, "the products fill several pages");
  expect(static_cast<std::int64_t>(products.size()) == pager.total(), "every product was listed");
  expect(complete, "the list did not move while it was read");
  return products;
}

Subscription find_subscription(const Client& client, const char* reference_id) {
  auto found = client.subscriptions().list({.reference_id = reference_id}).first();
  if (!found || found->reference_id() != reference_id) fail("there is a subscription with this reference id");
  return *std::move(found);
}

Subscription find_by_reference(const Client& client) {
  step(2, "Find a subscription by its reference id");
  auto found = find_subscription(client, "demo-active");
  say(text(found.reference_id().value()) + " is subscription " + found.id().text() + ": " + text(found.status()) +
      ", " + money(found.price(), found.currency()));
  expect(found.status() == billcore::subscription_status::active, "the subscription is active");
  return found;
}

void read_orders(const Client& client, const Subscription& subscription) {
  step(3, "Read its orders in two states");
  auto pager = client.subscriptions().orders(subscription.id(), {.per_page = 10, .states = {"paid", "confirmed"}});
  std::map<std::string, int, std::less<>> states;
  while (const auto order = pager.next()) ++states[text(order->state())];
  say(std::to_string(states["paid"]) + " paid and " + std::to_string(states["confirmed"]) + " confirmed orders on " +
      std::to_string(pager.fetched_pages()) + " pages");
  expect(states["paid"] > 0 && states["confirmed"] > 0 && states.size() == 2,
         "there are orders in these two states, and no others were listed");
}

std::string register_endpoint(const Client& client, const Control& control, const std::string& url) {
  step(4, "Register a webhook endpoint");
  const auto answer = client.webhook_endpoints().create(url);
  // The real service shows the secret only in its admin UI; the sandbox returns it through a control route.
  auto secret = control.endpoint_secret(url);
  say("answered " + std::to_string(answer.status()) + "; its secret has " + std::to_string(secret.size()) +
      " characters");
  expect(secret.size() == 32, "the endpoint has a secret of 32 characters");
  return secret;
}

Order charge(const Client& client, const Subscription& subscription, const Product& product) {
  step(5, "Charge");
  auto order = client.subscriptions().charge(
      subscription.id(), {.product_id = product.id(), .amount = 1500, .description = "Extra night"});
  say("order " + order.id().text() + ": " + money(order.total(), order.currency()) + ", " +
      money(order.total_with_vat(), order.currency()) + " with VAT, " + text(order.state()));
  expect(order.total() == 1500 && order.total_with_vat() == 1875, "the order has the amount charged, plus 25 % VAT");
  expect(client.orders().get(order.id()) == order, "the order can be read again");
  return order;
}

void be_refused(const Client& client, const Product& product) {
  step(6, "Handle a refused charge");
  const auto declined = find_subscription(client, "demo-declined");
  try {
    client.subscriptions().charge(declined.id(), {.product_id = product.id(), .amount = 1500});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::payment) throw;
    const auto& detail = error.detail();
    say("PaymentError, status " + std::to_string(detail.http_status) + ", code " + detail.api_code + ": " +
        detail.api_message);
    expect(detail.http_status == 402 && !detail.outcome_unknown, "a refusal is 402, and final");
    return;
  }
  fail("the charge on demo-declined is refused");
}

void charge_unanswered(const Client& client, const Subscription& subscription, const Product& product) {
  try {
    client.subscriptions().charge(subscription.id(), {.product_id = product.id(), .amount = 2700});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::outcome_unknown) throw;
    say("OutcomeUnknownError: " + error.detail().method + " " + error.detail().path + " was sent, but not answered");
    return;
  }
  fail("a connection reset instead of an answer leaves the outcome unknown");
}

Order lose_an_answer(const Client& client, const Control& control, const Subscription& subscription,
                     const Product& product, const Order& last_known) {
  step(7, "Lose the answer to a charge");
  control.lose_the_next_charge_answer();
  charge_unanswered(client, subscription, product);
  // Look for the order before a new charge. Orders are listed latest first, so a new order comes before the last one
  // that is already known.
  auto pager = client.subscriptions().orders(subscription.id(), {.product_id = product.id()});
  std::vector<Order> found;
  while (const auto order = pager.next()) {
    if (order->id() == last_known.id()) break;
    if (order->total() == 2700) found.push_back(*order);
  }
  expect(found.size() == 1, "the order list shows the charge once");
  const Order& order = found.front();
  say("the order list shows it: order " + order.id().text() + ", " + money(order.total(), order.currency()) + ", " +
      text(order.state()));
  expect(control.effects("charge") == 2, "the service made two charges in total: nothing was sent twice");
  return order;
}

void change_product(const Client& client, const Subscription& subscription, const std::vector<Product>& products) {
  step(8, "Change the product");
  const auto plan = std::find_if(products.begin(), products.end(), [&](const Product& product) {
    return product.type() == "subscription" && product.interval() == "month" &&
           product.currency() == subscription.currency() && product.price_without_vat() != subscription.price();
  });
  if (plan == products.end()) fail("there is another monthly product");
  const auto changed = client.subscriptions().change_product(subscription.id(), plan->id());
  say(text(plan->name()) + ": " + money(changed.price(), changed.currency()) + " instead of " +
      money(subscription.price(), subscription.currency()));
  expect(changed.price() == plan->price_without_vat(), "the subscription has the new product's price");
}

void renew(const Client& client, const Control& control, const Subscription& subscription) {
  step(9, "Renew");
  control.renew(subscription.id());
  const auto renewed = client.subscriptions().get(subscription.id());
  const auto before = subscription.renews_at();
  const auto after = renewed.renews_at();
  if (!before || !after) fail("an active subscription says when it renews");
  say("renews at " + date(*after) + " instead of " + date(*before));
  expect(after->at > before->at, "renews_at has moved forward");
}

billcore::Instant now() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

void cancel(const Client& client, const Subscription& subscription) {
  step(10, "Cancel");
  const auto cancelled = client.subscriptions().cancel(subscription.id());
  const auto ends_at = cancelled.ends_at();
  if (!ends_at) fail("a cancelled subscription says when it ends");
  say(text(cancelled.status()) + "; paid, so usable until " + date(*ends_at));
  expect(cancelled.status() == billcore::subscription_status::cancelled, "the subscription is cancelled");
  expect(cancelled.usable_at(now()), "what has been paid for can still be used");
}

const std::map<std::string, int, std::less<>> expected{
    {"order.confirmed", 3},  // one event for each of the two charges, one for the renewal
    {"order.paid", 3},      {"subscription.updated", 1}, {"subscription.renewed", 1}, {"subscription.cancelled", 1},
};

bool tells_payment(const std::vector<billcore::Event>& events, const Order& order) {
  return std::any_of(events.begin(), events.end(), [&](const billcore::Event& event) {
    if (event.type() != billcore::EventType::order_paid) return false;
    const auto paid = event.data_as<Order>();
    // An id may be an integer in an event and a string in a REST answer, so compare ids as text.
    return paid && paid->id().text() == order.id().text() && paid->total() == order.total();
  });
}

bool tells_cancellation(const std::vector<billcore::Event>& events, const Subscription& subscription) {
  return std::any_of(events.begin(), events.end(), [&](const billcore::Event& event) {
    if (event.type() != billcore::EventType::subscription_cancelled) return false;
    const auto ended = event.data_as<Subscription>();
    return ended && ended->id().text() == subscription.id().text() &&
           ended->status() == billcore::subscription_status::cancelled;
  });
}

void receive_events(Inbox& inbox, const Subscription& subscription, const std::vector<Order>& charged) {
  step(11, "Receive the events");
  std::size_t wanted = 0;
  for (const auto& [name, count] : expected) wanted += static_cast<std::size_t>(count);
  const auto [events, duplicates, refused] = inbox.wait_for(wanted, 1);
  std::map<std::string, int, std::less<>> names;
  for (const auto& event : events) {
    say(event.id().text() + " " + text(event.name()));
    ++names[text(event.name())];
  }
  expect(names == expected, "each event has arrived, and has been kept once");
  for (const Order& order : charged)
    expect(tells_payment(events, order), "each charge has its order.paid, with its total");
  expect(tells_cancellation(events, subscription), "the right one was cancelled");
  expect(duplicates.size() == 1 && duplicates[0].id() == events[0].id(), "only the first event was redelivered");
  say("all verified; " + duplicates[0].id().text() + " was answered 500, redelivered, and dropped");
}

void refuse_a_forgery(Inbox& inbox, const Listener& listener) {
  step(12, "Refuse a forged event");
  const std::string body(inbox.wait_for(1, 0).events.at(0).raw());
  const auto forged = billcore::webhooks::sign(body, "a guess of thirty-two characters");
  const Client forger(
      {.base_url = listener.origin() + "/webhooks", .api_key = "none", .headers = {{"Service-Signature", forged}}});
  const auto answer = forger.request("POST", "/forged", {.json = body, .raise_on_error = false});
  const auto refused = inbox.wait_for(1, 0).refused;
  std::string reasons;
  for (const auto reason : refused) reasons += (reasons.empty() ? "" : ", ") + text(to_string(reason));
  say("answered " + std::to_string(answer.status()) + ": " + reasons);
  expect(answer.status() == 401 && reasons == "mismatch", "a wrong signature is refused");
}

void tell() {
  const char* control_url = std::getenv("BILLCORE_SANDBOX_CONTROL");
  if (control_url == nullptr) fail("BILLCORE_SANDBOX_CONTROL is set");
  const Control control(control_url);
  control.reset();
  Inbox inbox;
  const Listener listener(
      [&inbox](std::string_view body, billcore::HeaderFields headers) { return inbox.receive(body, headers); });
  const Client client({});

  const auto products = list_products(client);
  const auto one_time =
      std::find_if(products.begin(), products.end(), [](const Product& p) { return p.type() == "one_time"; });
  if (one_time == products.end()) fail("there is a one-time product");
  const auto subscription = find_by_reference(client);
  read_orders(client, subscription);
  inbox.trust(register_endpoint(client, control, listener.origin() + "/webhooks"));
  const auto first = charge(client, subscription, *one_time);
  be_refused(client, *one_time);
  const auto second = lose_an_answer(client, control, subscription, *one_time, first);
  change_product(client, subscription, products);
  renew(client, control, subscription);
  cancel(client, subscription);
  receive_events(inbox, subscription, {first, second});
  refuse_a_forgery(inbox, listener);
}

}  // namespace

int main() {
  std::puts("The life of a subscription, in C++");
  try {
    tell();
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "story: %s\n", error.what());
    return 1;
  }
  std::puts("Done: every step succeeded.");
  return 0;
}
