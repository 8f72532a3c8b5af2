/* Calls every function with NULL and with invalid texts. */
#include "shared/bad_calls.h"

#include "support/client.h"

static const char one[] = "x";
const billcore_str odd_texts[odd_count] = {{NULL, 5}, {one, PTRDIFF_MAX}, {one, SIZE_MAX}, {NULL, SIZE_MAX}};
billcore_error* call_error;
static int calls;

void refused(const char* function, const char* words, billcore_status status) {
  ++calls;
  if (status != BILLCORE_ERROR_INVALID_ARGUMENT || billcore_error_status(call_error) != status ||
      strstr(billcore_error_message(call_error).data, words) == NULL) {
    fprintf(stderr, "%s, to be refused with \"%s\": %s: %s\n", function, words, billcore_status_name(status),
            billcore_error_message(call_error).data);
    exit(1);
  }
  billcore_error_free(call_error);
  call_error = (billcore_error*)1; /* the next call must replace it */
}

void require_zero(const void* output, size_t size) {
  static const unsigned char zeros[128];
  CHECK(size <= sizeof zeros && memcmp(output, zeros, size) == 0);
}

static const char* answer(const char* request) {
  (void)request;
  return ONE_PAGE(ORDER("a"));
}

int main(void) {
  server* at = server_start(answer);
  given g = {.client = client_of(at)};
  billcore_order_list* list = orders_of(g.client, "s", NULL);
  CHECK_OK(
      billcore_client_request(g.client, BILLCORE_STR("GET"), BILLCORE_STR("/orders"), NULL, NULL, &g.response, &err));
  CHECK_OK(billcore_response_get_info(g.response, &g.info, &err));
  CHECK_OK(billcore_response_json(g.response, &g.value, &err));
  CHECK_OK(billcore_list_next_page((billcore_list*)(void*)list, &g.page, &err));
  CHECK_OK(billcore_page_at(g.page, 0, &g.resource, &err));
  CHECK_OK(billcore_operation_new(BILLCORE_STR("products.update"), &g.operation, &err));
  CHECK_OK(billcore_options_new(BILLCORE_OPTIONS_OF_CLIENT, &g.options, &err));
  CHECK_OK(billcore_verifier_new(BILLCORE_STR("0123456789abcdef0123456789abcdef"), NULL, &g.verifier, &err));
  CHECK_OK(billcore_verifier_options_new(&g.verifier_options, &err));
  CHECK_OK(billcore_verifier_stream_new(g.verifier, &g.stream, &err));
  CHECK_OK(billcore_headers_new(&g.headers, &err));
  CHECK_OK(billcore_loop_new(g.client, &g.loop, &err));
  call_all(&g);
  printf("%d calls were refused\n", calls);

  billcore_order_list_free(list);
  billcore_loop_free(g.loop);
  billcore_client_free(g.client);
  billcore_response_free(g.response);
  billcore_response_info_free(g.info);
  billcore_value_free(g.value);
  billcore_operation_free(g.operation);
  billcore_options_free(g.options);
  billcore_page_free(g.page);
  billcore_resource_free(g.resource);
  billcore_verifier_free(g.verifier);
  billcore_verifier_options_free(g.verifier_options);
  billcore_verifier_stream_free(g.stream);
  billcore_headers_free(g.headers);
  server_stop(at);
  return 0;
}
