/* Runs the examples of the headers twice: against a service that accepts every request, where each example must
 * succeed, and against one that refuses every request, where AddressSanitizer detects memory that an example does not
 * free. */
#define _POSIX_C_SOURCE 200809L

#include "shared/examples.h"

#include <poll.h>

#include "support/client.h"
#include "support/events.h"

#define PAID "{\"id\":7,\"name\":\"order.paid\",\"account\":1,\"data\":" ORDER("o1") "}"
#define PRODUCT "{\"id\":102,\"name\":\"Report\",\"price\":1900}"
static atomic_bool refuses;

static const char* answer(const char* request) {
  if (refuses) return "HTTP/1.1 402 Payment Required" HEAD "{}";
  if (strncmp(request, "GET /acct/subscription/s1/orders", 32) == 0) return ONE_PAGE(ORDER("o1"));
  if (strncmp(request, "GET /acct/subscription/s1 ", 26) == 0) return DATA("{\"id\":\"s1\",\"status\":\"active\"}");
  if (strncmp(request, "POST /acct/subscription/s1/order ", 33) == 0) return DATA(ORDER("o1"));
  if (strncmp(request, "GET /acct/order/o1 ", 19) == 0) return DATA(ORDER("o1"));
  if (strncmp(request, "GET /acct/product", 17) == 0) return ONE_PAGE(PRODUCT);
  if (strstr(request, " /acct/product/102 ") != NULL) return DATA(PRODUCT);
  return "HTTP/1.1 404 Not Found" HEAD "null";
}

bool wait_until_readable(int descriptor) {
  struct pollfd ready = {descriptor, POLLIN, 0};
  return poll(&ready, 1, -1) == 1;
}

void print_order(void* context, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  billcore_order* order = NULL;
  billcore_str id = {NULL, 0};
  (void)context;
  CHECK(refuses == (failure != NULL));
  if (failure == NULL) {
    CHECK_OK(billcore_result_take_order(&result, &order, &err));
    CHECK_OK(billcore_order_id(order, &id, NULL, &err));
    printf("%d: %s\n", (int)ticket, id.data);
  }
  billcore_order_free(order);
  billcore_error_free(failure);
}

int main(void) {
  server* at = server_start(answer);
  setenv("BILLCORE_BASE_URL", server_url(at), 1);
  setenv("BILLCORE_API_KEY", "key_7", 1);
  billcore_client* client = client_of(at);
  billcore_event* event = event_of(PAID);
  billcore_order* order = NULL;
  billcore_value* value = NULL;
  billcore_buf signature = signature_of(BILLCORE_STR(PAID));
  CHECK_OK(billcore_event_order(event, &order, &err));
  CHECK_OK(billcore_order_value(order, &value, &err));
  given all = {client, BILLCORE_STR("s1"), BILLCORE_STR("o1"), order, value,
               event,  BILLCORE_STR(PAID), view_of(signature), SECRET};

  size_t count = 0;
  for (const example* one = examples; one->run != NULL; ++one, ++count) {
    const billcore_status status = one->run(&all);
    printf("%s: %s\n", one->header, billcore_status_name(status));
    CHECK(status == BILLCORE_OK || status == BILLCORE_DONE);
  }
  CHECK(count > 0);

  refuses = true;
  all.signature = BILLCORE_STR("no signature");
  size_t refused = 0;
  for (const example* one = examples; one->run != NULL; ++one) {
    if (one->run(&all) > BILLCORE_DONE) ++refused;
  }
  CHECK(refused > count / 2); /* the service cannot refuse an example that sends no request */

  billcore_buf_free(&signature);
  billcore_value_free(value);
  billcore_order_free(order);
  billcore_event_free(event);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
