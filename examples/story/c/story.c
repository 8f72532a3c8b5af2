/* The story: a program that shows the life of a subscription. The sibling folders contain the same program in
 * other languages.
 *
 * The program needs a running sandbox (examples/quickstart.sh starts one), which it finds through the environment
 * variables BILLCORE_BASE_URL, BILLCORE_API_KEY and BILLCORE_SANDBOX_CONTROL. It exits with status 1 if a check
 * fails. */
#include <billcore.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../c/listener.h"
#include "check.h"
#include "control.h"
#include "inbox.h"
#include "receiving.h"
#include "view.h"

typedef struct catalogue {
  billcore_product** products;
  size_t count;
} catalogue;

static catalogue list_products(const billcore_client* client) {
  step(1, "List the products");
  billcore_error* err = NULL;
  billcore_product_list* list = NULL;
  billcore_product* product = NULL;
  catalogue all = {NULL, 0};
  must(billcore_product_list_new(client, NULL, NULL, &list, &err), &err);
  while (must_have_next(billcore_product_list_next(list, &product, &err), &err)) {
    billcore_product** grown = realloc(all.products, (all.count + 1) * sizeof *grown);
    expect(grown != NULL, "memory is available");
    all.products = grown;
    all.products[all.count++] = product;
  }
  int64_t pages, total;
  bool counted, complete, judged;
  must(billcore_product_list_fetched_pages(list, &pages, &err), &err);
  must(billcore_product_list_total(list, &total, &counted, &err), &err);
  must(billcore_product_list_verdict(list, &complete, NULL, &judged, &err), &err);
  printf("    %zu products on %" PRId64 " pages; the list is %s\n", all.count, pages,
         complete ? "complete" : "possibly_missed");
  expect(pages > 1, "the products fill several pages");
  expect(counted && (int64_t)all.count == total, "every product was listed");
  expect(judged && complete, "the list did not move while it was read");
  billcore_product_list_free(list);
  return all;
}

static billcore_subscription* find_subscription(const billcore_client* client, billcore_str reference_id) {
  billcore_error* err = NULL;
  billcore_subscription_query* query = NULL;
  billcore_subscription_list* list = NULL;
  billcore_subscription* found = NULL;
  must(billcore_subscription_query_new(&query, &err), &err);
  must(billcore_subscription_query_set_reference_id(query, reference_id, &err), &err);
  must(billcore_subscription_list_new(client, query, NULL, &list, &err), &err);
  expect(must_have_next(billcore_subscription_list_first(list, &found, &err), &err),
         "there is a subscription with this reference id");
  billcore_subscription_list_free(list);
  billcore_subscription_query_free(query);
  return found;
}

static billcore_subscription* find_by_reference(const billcore_client* client) {
  step(2, "Find a subscription by its reference id");
  billcore_error* err = NULL;
  billcore_subscription* found = find_subscription(client, BILLCORE_STR("demo-active"));
  const subscription_view it = view_subscription(found);
  billcore_str reference_id;
  bool present;
  must(billcore_subscription_reference_id(found, &reference_id, &present, &err), &err);
  expect(present && is_text(reference_id, "demo-active"), "the subscription has the requested reference id");
  printf("    %s is subscription %s: %s, %s\n", reference_id.data, it.id.data, it.status.data,
         money(it.price, it.currency).text);
  expect(is_text(it.status, "active"), "the subscription is active");
  return found;
}

static void read_orders(const billcore_client* client, billcore_str subscription) {
  step(3, "Read its orders in two states");
  billcore_error* err = NULL;
  billcore_order_query* query = NULL;
  billcore_order_list* list = NULL;
  billcore_order* order = NULL;
  must(billcore_order_query_new(&query, &err), &err);
  must(billcore_order_query_add_state(query, BILLCORE_STR("paid"), &err), &err);
  must(billcore_order_query_add_state(query, BILLCORE_STR("confirmed"), &err), &err);
  must(billcore_order_query_set_per_page(query, 10, &err), &err);
  must(billcore_subscription_orders_new(client, subscription, query, NULL, &list, &err), &err);
  int paid = 0, confirmed = 0, others = 0;
  while (must_have_next(billcore_order_list_next(list, &order, &err), &err)) {
    const billcore_str state = view_order(order).state;
    ++*(is_text(state, "paid") ? &paid : is_text(state, "confirmed") ? &confirmed : &others);
    billcore_order_free(order);
  }
  int64_t pages;
  must(billcore_order_list_fetched_pages(list, &pages, &err), &err);
  printf("    %d paid and %d confirmed orders on %" PRId64 " pages\n", paid, confirmed, pages);
  expect(paid > 0 && confirmed > 0 && others == 0, "there are orders in these two states, and no others were listed");
  billcore_order_list_free(list);
  billcore_order_query_free(query);
}

static void register_endpoint(const billcore_client* client, const billcore_client* control, const char* url,
                              char secret[33]) {
  step(4, "Register a webhook endpoint");
  billcore_error* err = NULL;
  billcore_response* response = NULL;
  int32_t status;
  must(billcore_webhook_endpoint_create(client, billcore_str_from(url), NULL, &response, &err), &err);
  must(billcore_response_status(response, &status, &err), &err);
  /* The real service shows the secret only in its admin UI; the sandbox returns it through a control route. */
  control_endpoint_secret(control, url, secret);
  const size_t length = billcore_str_from(secret).len;
  printf("    answered %" PRId32 "; its secret has %zu characters\n", status, length);
  expect(length == 32, "the endpoint has a secret of 32 characters");
  billcore_response_free(response);
}

static billcore_order* charge(const billcore_client* client, billcore_str subscription, int64_t product_id) {
  step(5, "Charge");
  billcore_error* err = NULL;
  billcore_charge_options* options = NULL;
  billcore_order *order = NULL, *again = NULL;
  must(billcore_charge_options_new(&options, &err), &err);
  must(billcore_charge_options_set_description(options, BILLCORE_STR("Extra night"), &err), &err);
  must(billcore_subscription_charge(client, subscription, product_id, 1500, options, NULL, &order, &err), &err);
  billcore_charge_options_free(options);
  const order_view it = view_order(order);
  printf("    order %s: %s, %s with VAT, %s\n", it.id.data, money(it.total, it.currency).text,
         money(it.gross, it.currency).text, it.state.data);
  expect(it.total == 1500 && it.gross == 1875, "the order has the amount charged, plus 25 % VAT");
  bool equal;
  must(billcore_order_get(client, it.id, NULL, &again, &err), &err);
  must(billcore_order_equal(order, again, &equal, &err), &err);
  expect(equal, "the order can be read again");
  billcore_order_free(again);
  return order;
}

static void be_refused(const billcore_client* client, int64_t product_id) {
  step(6, "Handle a refused charge");
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_subscription* declined = find_subscription(client, BILLCORE_STR("demo-declined"));
  const billcore_status status =
      billcore_subscription_charge(client, view_subscription(declined).id, product_id, 1500, NULL, NULL, &order, &err);
  if (status != BILLCORE_ERROR_PAYMENT) must(status, &err);
  expect(status == BILLCORE_ERROR_PAYMENT, "the charge on demo-declined is refused");
  printf("    PaymentError, status %" PRId32 ", code %s: %s\n", billcore_error_http_status(err),
         billcore_error_api_code(err).data, billcore_error_api_message(err).data);
  expect(billcore_error_http_status(err) == 402 && !billcore_error_outcome_unknown(err), "a refusal is 402, and final");
  billcore_error_free(err);
  billcore_subscription_free(declined);
}

static void charge_unanswered(const billcore_client* client, billcore_str subscription, int64_t product_id) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  const billcore_status status =
      billcore_subscription_charge(client, subscription, product_id, 2700, NULL, NULL, &order, &err);
  if (status != BILLCORE_ERROR_OUTCOME_UNKNOWN) must(status, &err);
  expect(status == BILLCORE_ERROR_OUTCOME_UNKNOWN,
         "a connection reset instead of an answer leaves the outcome unknown");
  printf("    OutcomeUnknownError: %s %s was sent, but not answered\n", billcore_error_method(err).data,
         billcore_error_path(err).data);
  billcore_error_free(err);
}

static billcore_order* lose_an_answer(const billcore_client* client, const billcore_client* control,
                                      billcore_str subscription, int64_t product_id, const billcore_order* last_known) {
  step(7, "Lose the answer to a charge");
  control_lose_the_next_charge_answer(control);
  charge_unanswered(client, subscription, product_id);
  /* Before you charge again, look for the order of the lost charge. Orders are listed latest first, so new orders are
   * listed before the order `last_known`. */
  billcore_error* err = NULL;
  billcore_order_query* query = NULL;
  billcore_order_list* list = NULL;
  billcore_order *order = NULL, *found = NULL;
  must(billcore_order_query_new(&query, &err), &err);
  must(billcore_order_query_set_product_id(query, product_id, &err), &err);
  must(billcore_subscription_orders_new(client, subscription, query, NULL, &list, &err), &err);
  for (bool newer = true; newer && must_have_next(billcore_order_list_next(list, &order, &err), &err);) {
    const order_view it = view_order(order);
    newer = !same_text(it.id, view_order(last_known).id);
    if (newer && it.total == 2700) {
      expect(found == NULL, "the order list shows the charge once");
      found = order;
    } else {
      billcore_order_free(order);
    }
  }
  expect(found != NULL, "the order list shows the charge once");
  const order_view it = view_order(found);
  printf("    the order list shows it: order %s, %s, %s\n", it.id.data, money(it.total, it.currency).text,
         it.state.data);
  expect(control_effects(control, "charge") == 2, "the service made two charges in total: nothing was sent twice");
  billcore_order_list_free(list);
  billcore_order_query_free(query);
  return found;
}

/* Finds another monthly product in the same currency, at another price; NULL when there is none. */
static const billcore_product* find_plan(const catalogue* all, subscription_view now, int64_t* id, int64_t* price) {
  billcore_error* err = NULL;
  for (size_t i = 0; i < all->count; ++i) {
    const billcore_product* product = all->products[i];
    billcore_str type, interval, currency;
    bool present;
    must(billcore_product_type(product, &type, &err), &err);
    must(billcore_product_interval(product, &interval, &present, &err), &err);
    must(billcore_product_currency(product, &currency, &err), &err);
    must(billcore_product_price_without_vat(product, price, &err), &err);
    must(billcore_product_id(product, id, &err), &err);
    if (is_text(type, "subscription") && present && is_text(interval, "month") && same_text(currency, now.currency) &&
        *price != now.price) {
      return product;
    }
  }
  return NULL;
}

static void change_product(const billcore_client* client, subscription_view subscription, const catalogue* all) {
  step(8, "Change the product");
  billcore_error* err = NULL;
  billcore_subscription* changed = NULL;
  billcore_str name;
  int64_t id, price;
  const billcore_product* plan = find_plan(all, subscription, &id, &price);
  expect(plan != NULL, "there is another monthly product");
  must(billcore_product_name(plan, &name, &err), &err);
  must(billcore_subscription_change_product(client, subscription.id, id, NULL, &changed, &err), &err);
  const subscription_view it = view_subscription(changed);
  printf("    %s: %s instead of %s\n", name.data, money(it.price, it.currency).text,
         money(subscription.price, subscription.currency).text);
  expect(it.price == price, "the subscription has the new product's price");
  billcore_subscription_free(changed);
}

static void renew(const billcore_client* client, const billcore_client* control,
                  const billcore_subscription* subscription) {
  step(9, "Renew");
  billcore_error* err = NULL;
  billcore_subscription* renewed = NULL;
  const billcore_str id = view_subscription(subscription).id;
  control_renew(control, id);
  must(billcore_subscription_get(client, id, NULL, &renewed, &err), &err);
  billcore_str before, after;
  int64_t before_micros, after_micros;
  bool known_before, known_after;
  must(billcore_subscription_renews_at(subscription, &before, &before_micros, &known_before, &err), &err);
  must(billcore_subscription_renews_at(renewed, &after, &after_micros, &known_after, &err), &err);
  expect(known_before && known_after, "an active subscription says when it renews");
  printf("    renews at %.10s instead of %.10s\n", after.data, before.data);
  expect(after_micros > before_micros, "renews_at has moved forward");
  billcore_subscription_free(renewed);
}

static void cancel(const billcore_client* client, billcore_str subscription) {
  step(10, "Cancel");
  billcore_error* err = NULL;
  billcore_subscription* cancelled = NULL;
  must(billcore_subscription_cancel(client, subscription, NULL, &cancelled, &err), &err);
  billcore_str ends_at;
  bool known, usable;
  must(billcore_subscription_ends_at(cancelled, &ends_at, NULL, &known, &err), &err);
  must(billcore_subscription_usable_at(cancelled, (int64_t)time(NULL) * 1000000, &usable, &err), &err);
  expect(known, "a cancelled subscription says when it ends");
  const billcore_str status = view_subscription(cancelled).status;
  printf("    %s; paid, so usable until %.10s\n", status.data, ends_at.data);
  expect(is_text(status, "cancelled"), "the subscription is cancelled");
  expect(usable, "what has been paid for can still be used");
  billcore_subscription_free(cancelled);
}

static int64_t find_one_time(const catalogue* all) {
  billcore_error* err = NULL;
  for (size_t i = 0; i < all->count; ++i) {
    billcore_str type;
    int64_t id;
    must(billcore_product_type(all->products[i], &type, &err), &err);
    must(billcore_product_id(all->products[i], &id, &err), &err);
    if (is_text(type, "one_time")) return id;
  }
  expect(false, "there is a one-time product");
  return 0;
}

int main(void) {
  puts("The life of a subscription, in C");
  const char* control_url = getenv("BILLCORE_SANDBOX_CONTROL");
  expect(control_url != NULL, "BILLCORE_SANDBOX_CONTROL is set");
  billcore_client* control = keyless_client(control_url, (billcore_str){NULL, 0}, (billcore_str){NULL, 0});
  control_reset(control);
  inbox box;
  inbox_init(&box);
  listener* server = listener_new(0, inbox_receive, &box);
  expect(server != NULL, "the listener could be started");
  char url[64], secret[33];
  snprintf(url, sizeof url, "http://127.0.0.1:%u/webhooks", listener_port(server));
  billcore_error* err = NULL;
  billcore_client* client = NULL;
  must(billcore_client_new(NULL, &client, &err), &err);

  catalogue all = list_products(client);
  const int64_t one_time = find_one_time(&all);
  billcore_subscription* subscription = find_by_reference(client);
  const subscription_view it = view_subscription(subscription);
  read_orders(client, it.id);
  register_endpoint(client, control, url, secret);
  inbox_trust(&box, secret);
  billcore_order* first = charge(client, it.id, one_time);
  be_refused(client, one_time);
  billcore_order* second = lose_an_answer(client, control, it.id, one_time, first);
  change_product(client, it, &all);
  renew(client, control, subscription);
  cancel(client, it.id);
  receive_events(&box, it.id, first, second);
  refuse_a_forgery(&box, url);

  billcore_order_free(second);
  billcore_order_free(first);
  billcore_subscription_free(subscription);
  for (size_t i = 0; i < all.count; ++i) billcore_product_free(all.products[i]);
  free(all.products);
  billcore_client_free(client);
  listener_free(server);
  inbox_destroy(&box);
  billcore_client_free(control);
  puts("Done: every step succeeded.");
  return 0;
}
