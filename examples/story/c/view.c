#include "view.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"

void step(int number, const char* title) { printf("%2d. %s\n", number, title); }

amount money(int64_t cents, billcore_str currency) {
  amount out;
  snprintf(out.text, sizeof out.text, "%" PRId64 ".%02d %.8s", cents / 100, (int)(cents % 100), currency.data);
  return out;
}

order_view view_order(const billcore_order* order) {
  order_view view;
  billcore_error* err = NULL;
  must(billcore_order_id(order, &view.id, NULL, &err), &err);
  must(billcore_order_state(order, &view.state, &err), &err);
  must(billcore_order_currency(order, &view.currency, &err), &err);
  must(billcore_order_total(order, &view.total, &err), &err);
  must(billcore_order_total_with_vat(order, &view.gross, &err), &err);
  return view;
}

subscription_view view_subscription(const billcore_subscription* subscription) {
  subscription_view view;
  billcore_error* err = NULL;
  must(billcore_subscription_id(subscription, &view.id, NULL, &err), &err);
  must(billcore_subscription_status(subscription, &view.status, &err), &err);
  must(billcore_subscription_currency(subscription, &view.currency, &err), &err);
  must(billcore_subscription_price(subscription, &view.price, &err), &err);
  return view;
}
