#include "receiving.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "control.h"
#include "view.h"

/* The events that must arrive. The two charges and the renewal make three orders. */
static const struct {
  const char* name;
  size_t count;
} expected[] = {
    {"order.confirmed", 3},        {"order.paid", 3}, {"subscription.updated", 1}, {"subscription.renewed", 1},
    {"subscription.cancelled", 1},
};
enum { EXPECTED_EVENTS = 9 };

static billcore_event_kind type_of(const billcore_event* event) {
  billcore_error* err = NULL;
  billcore_event_kind type;
  must(billcore_event_type(event, &type, &err), &err);
  return type;
}

static size_t count_events(const inbox* box, const char* name) {
  billcore_error* err = NULL;
  size_t count = 0;
  for (size_t i = 0; i < box->event_count; ++i) {
    billcore_str its_name;
    must(billcore_event_name(box->events[i], &its_name, &err), &err);
    if (is_text(its_name, name)) ++count;
  }
  return count;
}

static bool tells_payment(const inbox* box, const billcore_order* charged) {
  billcore_error* err = NULL;
  const order_view order = view_order(charged);
  bool found = false;
  for (size_t i = 0; i < box->event_count && !found; ++i) {
    if (type_of(box->events[i]) != BILLCORE_EVENT_ORDER_PAID) continue;
    billcore_order* paid = NULL;
    billcore_str id;
    int64_t total;
    must(billcore_event_order(box->events[i], &paid, &err), &err);
    must(billcore_order_id(paid, &id, NULL, &err), &err);
    must(billcore_order_total(paid, &total, &err), &err);
    /* An id may be an integer in an event and a string in a REST answer, so compare ids as text. */
    found = same_text(id, order.id) && total == order.total;
    billcore_order_free(paid);
  }
  return found;
}

static bool tells_cancellation(const inbox* box, billcore_str subscription) {
  billcore_error* err = NULL;
  bool found = false;
  for (size_t i = 0; i < box->event_count && !found; ++i) {
    if (type_of(box->events[i]) != BILLCORE_EVENT_SUBSCRIPTION_CANCELLED) continue;
    billcore_subscription* ended = NULL;
    billcore_str id, status;
    must(billcore_event_subscription(box->events[i], &ended, &err), &err);
    must(billcore_subscription_id(ended, &id, NULL, &err), &err);
    must(billcore_subscription_status(ended, &status, &err), &err);
    found = same_text(id, subscription) && is_text(status, "cancelled");
    billcore_subscription_free(ended);
  }
  return found;
}

void receive_events(inbox* box, billcore_str subscription, const billcore_order* first, const billcore_order* second) {
  step(11, "Receive the events");
  billcore_error* err = NULL;
  billcore_str id, name, duplicate;
  inbox_wait(box, EXPECTED_EVENTS, 1);
  for (size_t i = 0; i < box->event_count; ++i) {
    must(billcore_event_id(box->events[i], &id, NULL, &err), &err);
    must(billcore_event_name(box->events[i], &name, &err), &err);
    printf("    %s %s\n", id.data, name.data);
  }
  expect(box->event_count == EXPECTED_EVENTS, "each event has arrived, and has been kept once");
  for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
    expect(count_events(box, expected[i].name) == expected[i].count, "each event has arrived, and has been kept once");
  }
  expect(tells_payment(box, first) && tells_payment(box, second), "each charge has its order.paid, with its total");
  expect(tells_cancellation(box, subscription), "the right one was cancelled");
  expect(box->duplicate_count == 1, "only the first event was redelivered");
  must(billcore_event_id(box->events[0], &id, NULL, &err), &err);
  must(billcore_event_id(box->duplicates[0], &duplicate, NULL, &err), &err);
  expect(same_text(id, duplicate), "only the first event was redelivered");
  printf("    all verified; %s was answered 500, redelivered, and dropped\n", duplicate.data);
}

void refuse_a_forgery(inbox* box, const char* url) {
  step(12, "Refuse a forged event");
  billcore_error* err = NULL;
  billcore_str body;
  billcore_buf forged;
  billcore_request_options* options = NULL;
  billcore_response* response = NULL;
  int32_t status;
  must(billcore_event_raw(box->events[0], &body, &err), &err);
  must(billcore_webhook_sign(body, BILLCORE_STR("a guess of thirty-two characters"), &forged, &err), &err);
  billcore_client* forger =
      keyless_client(url, BILLCORE_STR("Service-Signature"), (billcore_str){forged.data, forged.len});
  must(billcore_request_options_new(&options, &err), &err);
  must(billcore_request_options_set_json(options, body, &err), &err);
  must(billcore_request_options_accept_all_statuses(options, &err), &err);
  must(billcore_client_request(forger, BILLCORE_STR("POST"), BILLCORE_STR("/forged"), options, NULL, &response, &err),
       &err);
  must(billcore_response_status(response, &status, &err), &err);
  inbox_wait(box, EXPECTED_EVENTS, 1);
  expect(box->refused_count == 1, "a wrong signature is refused");
  printf("    answered %" PRId32 ": %s\n", status, billcore_reason_name(box->refused[0]));
  expect(status == 401 && box->refused[0] == BILLCORE_REASON_MISMATCH, "a wrong signature is refused");
  billcore_response_free(response);
  billcore_request_options_free(options);
  billcore_client_free(forger);
  billcore_buf_free(&forged);
}
