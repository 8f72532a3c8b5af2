/* Helpers for the tests of the client: the answers of the test server, a client of this server, calls and lists. Each
 * test program has its own copy of the variables. */
#ifndef CLIENT_H
#define CLIENT_H

#ifdef __cplusplus
using std::atomic_int;
#else
#include <stdatomic.h>
#endif

#include "check.h"
#include "server.h"

#define HEAD "\r\nContent-Type: application/json\r\nX-Request-Id: req-7\r\nConnection: close\r\n\r\n"
#define OK "HTTP/1.1 200 OK" HEAD
#define ORDER(id) "{\"id\":\"" id "\",\"total\":1500,\"state\":\"paid\"}"
#define DATA(json) OK "{\"data\":" json "}"
#define PAGE(items, total, per_page, page, pages)                                                              \
  OK "{\"data\":[" items "],\"pagination\":{\"total\":" total ",\"count\":" per_page ",\"per_page\":" per_page \
     ",\"current_page\":" page ",\"total_pages\":" pages ",\"links\":{\"next\":null,\"previous\":\"p\"}}}"
#define ONE_PAGE(item) PAGE(item, "1", "1", "1", "1")

static atomic_int requests; /* number of requests that usual_answer() has seen */

/* The answers to the requests of most tests. */
static inline const char* usual_answer(const char* request) {
  ++requests;
  if (strstr(request, "/held") != NULL) return NULL;
  if (strstr(request, "/lost") != NULL) return "";
  if (strstr(request, "/none") != NULL) return "HTTP/1.1 404 Not Found" HEAD "{}";
  if (strstr(request, "/busy") != NULL) return "HTTP/1.1 503 X\r\nRetry-After: 50" HEAD "{}";
  if (strstr(request, "/refused") != NULL)
    return "HTTP/1.1 402 X\r\nRetry-After: 7" HEAD "{\"error\":{\"code\":\"card_declined\",\"message\":\"declined\"}}";
  if (strncmp(request, "DELETE", 6) == 0) return "HTTP/1.1 204 No Content" HEAD;
  if (strstr(request, "page=2") != NULL) return PAGE(ORDER("c") "," ORDER("d"), "4", "2", "2", "2");
  if (strstr(request, "page=1") != NULL) return PAGE(ORDER("a") "," ORDER("b"), "4", "2", "1", "2");
  return DATA(ORDER("o"));
}

/* The options of a client of the server, with the key "key". */
static inline billcore_client_options* options_for(const server* at) {
  billcore_client_options* out = NULL;
  CHECK_OK(billcore_client_options_new(&out, &err));
  CHECK_OK(billcore_client_options_set_base_url(out, billcore_str_from(server_url(at)), &err));
  CHECK_OK(billcore_client_options_set_api_key(out, BILLCORE_STR("key"), &err));
  CHECK_OK(billcore_client_options_set_timeout_ms(out, 60000, &err));
  return out;
}

/* Makes a client, and frees the options. */
static inline billcore_client* client_with(billcore_client_options* options) {
  billcore_client* out = NULL;
  CHECK_OK(billcore_client_new(options, &out, &err));
  billcore_client_options_free(options);
  return out;
}

static inline billcore_client* client_of(const server* at) { return client_with(options_for(at)); }

static inline billcore_call_options* new_call_options(void) {
  billcore_call_options* out = NULL;
  CHECK_OK(billcore_call_options_new(&out, &err));
  return out;
}

/* Checks the order's id, and frees the order. */
static inline void expect_id(billcore_order* order, const char* id) {
  billcore_str found;
  CHECK_OK(billcore_order_id(order, &found, NULL, &err));
  CHECK(is_text(found, id));
  billcore_order_free(order);
}

/* Gets an order, which must have the id "o". */
static inline billcore_status get(const billcore_client* client, const char* id, const billcore_call_options* call) {
  billcore_order* order = NULL;
  const billcore_status status = billcore_order_get(client, billcore_str_from(id), call, &order, &err);
  CHECK((status == BILLCORE_OK) == (order != NULL));
  if (order != NULL) expect_id(order, "o");
  return status;
}

/* Charges a subscription; the order must have the id "o". */
static inline billcore_status charge(const billcore_client* client, const char* id, const billcore_call_options* call) {
  billcore_order* order = NULL;
  const billcore_status status =
      billcore_subscription_charge(client, billcore_str_from(id), 7, 1500, NULL, call, &order, &err);
  CHECK((status == BILLCORE_OK) == (order != NULL));
  if (order != NULL) expect_id(order, "o");
  return status;
}

static inline billcore_order_list* orders_of(const billcore_client* client, const char* id,
                                             const billcore_call_options* call) {
  billcore_order_list* out = NULL;
  CHECK_OK(billcore_subscription_orders_new(client, billcore_str_from(id), NULL, call, &out, &err));
  return out;
}

static inline void expect_next(billcore_order_list* list, const char* id) {
  billcore_order* order = NULL;
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  expect_id(order, id);
}

#endif
