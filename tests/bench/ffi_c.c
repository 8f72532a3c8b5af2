#include "ffi_c.h"

size_t ffi_call(size_t count) {
  const billcore_str one = BILLCORE_STR("480001");
  const billcore_str other = BILLCORE_STR("480001");
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += billcore_same_id(one, other);
  return sum;
}

size_t ffi_verify(const billcore_verifier* verifier, billcore_str body, billcore_str signature, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    if (billcore_verifier_verify(verifier, body, signature, NULL, NULL) != BILLCORE_OK) return 0;
    sum += body.len;
  }
  return sum;
}

size_t ffi_unwrap(const billcore_verifier* verifier, billcore_str body, billcore_str signature, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    billcore_event* event = NULL;
    billcore_subscription* subscription = NULL;
    billcore_str id = {NULL, 0};
    billcore_str name = {NULL, 0};
    billcore_str state = {NULL, 0};
    const bool read = billcore_verifier_unwrap(verifier, body, signature, &event, NULL) == BILLCORE_OK &&
                      billcore_event_id(event, &id, NULL, NULL) == BILLCORE_OK &&
                      billcore_event_name(event, &name, NULL) == BILLCORE_OK &&
                      billcore_event_subscription(event, &subscription, NULL) == BILLCORE_OK &&
                      billcore_subscription_status(subscription, &state, NULL) == BILLCORE_OK;
    sum += id.len + name.len + state.len;
    billcore_subscription_free(subscription);
    billcore_event_free(event);
    if (!read) return 0;
  }
  return sum;
}

size_t ffi_list(const billcore_client* client, const char* subscription) {
  billcore_order_list* list = NULL;
  billcore_order* order = NULL;
  size_t sum = 0;
  bool good =
      billcore_subscription_orders_new(client, billcore_str_from(subscription), NULL, NULL, &list, NULL) == BILLCORE_OK;
  while (good) {
    billcore_str id = {NULL, 0};
    billcore_str state = {NULL, 0};
    int64_t total = 0;
    const billcore_status next = billcore_order_list_next(list, &order, NULL);
    if (next == BILLCORE_DONE) break;
    good = next == BILLCORE_OK && billcore_order_id(order, &id, NULL, NULL) == BILLCORE_OK &&
           billcore_order_total_with_vat(order, &total, NULL) == BILLCORE_OK &&
           billcore_order_state(order, &state, NULL) == BILLCORE_OK;
    sum += id.len + (size_t)total + state.len;
    billcore_order_free(order);
  }
  billcore_order_list_free(list);
  return good ? sum : 0;
}
