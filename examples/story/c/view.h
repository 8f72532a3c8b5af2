/* Structs with the fields of a resource that the program prints and compares. The texts in a struct are valid until
 * the resource is freed. */
#ifndef EXAMPLE_VIEW_H
#define EXAMPLE_VIEW_H

#include <billcore.h>

void step(int number, const char* title);

typedef struct amount {
  char text[40];
} amount;

/* Formats an amount, such as "15.00 DKK". */
amount money(int64_t cents, billcore_str currency);

typedef struct order_view {
  billcore_str id, state, currency;
  int64_t total, gross;
} order_view;

order_view view_order(const billcore_order* order);

typedef struct subscription_view {
  billcore_str id, status, currency;
  int64_t price;
} subscription_view;

subscription_view view_subscription(const billcore_subscription* subscription);

#endif
