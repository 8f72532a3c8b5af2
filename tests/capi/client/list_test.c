/* Tests lists of many pages against a small server: several requests in flight, strict reading, resuming from a
 * state, errors that name the page, and forks. */
#define _POSIX_C_SOURCE 200809L

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/client.h"

enum { pages = 20, per_page = 3, records = pages * per_page };

static atomic_int requests;
static atomic_int broken; /* the page that fails; 0: none */
static atomic_int silent; /* the page that gets no answer; 0: none */
static atomic_bool stop_waiting;
static atomic_bool filtered; /* a request had the parameters of test_parameters */

static const char* answer(const char* request) {
  static _Thread_local char out[1024]; /* each server thread sends an answer before it reads the next request */
  char body[512];
  const char* page = strstr(request, "page=");
  const int number = page != NULL ? atoi(page + 5) : 0;
  ++requests;
  if (strstr(request, "&per_page=7&filter%5Bproduct_id%5D=42&filter%5Bstate%5D=paid%2Cconfirmed ")) filtered = true;
  if (number == silent && number != 0) return NULL;
  if (number == broken && number != 0) return "HTTP/1.1 500 Broken" HEAD "null";
  snprintf(body, sizeof body,
           "{\"data\":[{\"id\":%d},{\"id\":%d},{\"id\":%d}],\"pagination\":{\"total\":%d,\"count\":3,\"per_page\":3,"
           "\"current_page\":%d,\"total_pages\":%d,\"links\":{\"next\":null,\"previous\":null}}}",
           (number - 1) * 3, (number - 1) * 3 + 1, (number - 1) * 3 + 2, (int)records, number, (int)pages);
  /* Send a Content-Length: a forked child also has the server's socket open, so the server cannot end the answer by
   * closing the connection. */
  snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Length: %d" HEAD "%s", (int)strlen(body), body);
  return out;
}

static bool asked_to_stop(void* context) {
  (void)context;
  return stop_waiting;
}

static billcore_client* several_at_once(const billcore_client* client, int32_t concurrency) {
  billcore_error* err = NULL;
  billcore_client_changes* changes = NULL;
  billcore_client* out = NULL;
  CHECK_OK(billcore_client_changes_new(&changes, &err));
  CHECK_OK(billcore_client_changes_set_concurrency(changes, concurrency, &err));
  CHECK_OK(billcore_client_changes_set_max_retries(changes, 0, &err));
  CHECK_OK(billcore_client_with_options(client, changes, &out, &err));
  billcore_client_changes_free(changes);
  return out;
}

static billcore_status new_list(const billcore_client* client, const char* id, billcore_str resume, bool strict,
                                const billcore_call_options* call, billcore_order_list** list, billcore_error** err) {
  billcore_error* none = NULL;
  billcore_order_query* query = NULL;
  if (billcore_order_query_new(&query, &none) != BILLCORE_OK) exit(1);
  if (resume.data != NULL && billcore_order_query_set_resume(query, resume, &none) != BILLCORE_OK) exit(1);
  if (billcore_order_query_set_strict(query, strict, &none) != BILLCORE_OK) exit(1);
  const billcore_status status =
      billcore_subscription_orders_new(client, billcore_str_from(id), query, call, list, err);
  billcore_order_query_free(query);
  return status;
}

static billcore_order_list* orders_of(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_list* list = NULL;
  CHECK_OK(new_list(client, "s", (billcore_str){NULL, 0}, false, NULL, &list, &err));
  return list;
}

/* If true, read_items() tries again after a time-out: the list has a short one, which a busy machine may miss. */
static bool patient;

/* Reads the next items, whose ids must be the numbers from `from` to `to` - 1. */
static void read_items(billcore_order_list* list, int from, int to) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_str text;
  for (; from < to; ++from) {
    billcore_status status = billcore_order_list_next(list, &order, &err);
    for (int i = 0; i < 100 && patient && status == BILLCORE_ERROR_TIMEOUT; ++i) {
      billcore_error_free(err);
      err = NULL;
      status = billcore_order_list_next(list, &order, &err); /* the list goes on with the same page */
    }
    CHECK_OK(status);
    CHECK_OK(billcore_order_id(order, &text, NULL, &err));
    CHECK(atoi(text.data) == from);
    billcore_order_free(order);
  }
}

static void read_to_the_end(billcore_order_list* list, int from) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  bool complete;
  bool present;
  read_items(list, from, records);
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_DONE && order == NULL && err == NULL);
  CHECK_OK(billcore_order_list_verdict(list, &complete, NULL, &present, &err));
  CHECK(present && complete);
}

static billcore_buf state_of(const billcore_order_list* list) {
  billcore_error* err = NULL;
  billcore_buf out;
  CHECK_OK(billcore_order_list_state(list, &out, &err));
  CHECK(out.len > 0 && strlen(out.data) == out.len);
  return out;
}

static void test_concurrency(const server* at) {
  static const int32_t none[] = {0, -1, INT32_MIN};
  billcore_error* err = NULL;
  billcore_client_options* options = NULL;
  billcore_client_changes* changes = NULL;
  billcore_client* refused = NULL;
  billcore_client* client = client_of(at, "key", NULL, NULL);

  CHECK_OK(billcore_client_options_new(&options, &err));
  CHECK_OK(billcore_client_options_set_base_url(options, billcore_str_from(server_url(at)), &err));
  CHECK_OK(billcore_client_options_set_api_key(options, BILLCORE_STR("key"), &err));
  CHECK_OK(billcore_client_changes_new(&changes, &err));
  for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
    CHECK_OK(billcore_client_options_set_concurrency(options, none[i], &err));
    CHECK_FAILS(billcore_client_new(options, &refused, &err), BILLCORE_ERROR_CONFIG, "concurrency");
    CHECK_OK(billcore_client_changes_set_concurrency(changes, none[i], &err));
    CHECK_FAILS(billcore_client_with_options(client, changes, &refused, &err), BILLCORE_ERROR_CONFIG, "concurrency");
    CHECK(refused == NULL);
  }
  billcore_client_changes_free(changes);
  CHECK_OK(billcore_client_options_set_concurrency(options, INT32_MAX, &err));
  CHECK_OK(billcore_client_new(options, &refused, &err));
  billcore_client_free(refused);
  CHECK_OK(billcore_client_options_set_concurrency(options, 5, &err));
  CHECK_OK(billcore_client_new(options, &refused, &err));
  billcore_client_options_free(options);
  billcore_order_list* list = orders_of(refused);
  read_to_the_end(list, 0);
  billcore_order_list_free(list);
  billcore_client_free(refused);

  for (int32_t concurrency = 1; concurrency <= 64; concurrency *= 4) {
    /* Each round has its own server: otherwise a late request of a stopped list would be counted in the next
     * round. */
    server* apart = server_start(answer);
    billcore_client* plain = client_of(apart, "key", NULL, NULL);
    billcore_client* own = several_at_once(plain, concurrency);
    requests = 0;
    list = orders_of(own);
    read_items(list, 0, 1);
    CHECK(requests == 1); /* only reading the second item requests further pages */
    read_to_the_end(list, 1);
    CHECK(requests == pages);
    billcore_order_list_free(list);
    requests = 0;
    list = orders_of(own);
    read_items(list, 0, 2);
    CHECK_OK(billcore_order_list_stop(list, &err));
    CHECK(requests <= 1 + concurrency);
    billcore_order_list_free(list);
    billcore_client_free(own);
    billcore_client_free(plain);
    server_stop(apart);
  }
  billcore_client_free(client);
}

static void test_strict(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_list* list = NULL;
  int64_t fetched;
  requests = 0;
  CHECK_OK(new_list(client, "s", (billcore_str){NULL, 0}, true, NULL, &list, &err));
  read_to_the_end(list, 0);
  CHECK(requests == 2 * pages);
  CHECK_OK(billcore_order_list_fetched_pages(list, &fetched, &err));
  CHECK(fetched == 2 * pages);
  billcore_order_list_free(list);
}

static void test_an_error_names_its_page(const server* at, const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_order_list* rest = NULL;
  billcore_order_list* list = orders_of(client);
  broken = 7;
  read_items(list, 0, 6 * per_page);
  for (int again = 0; again < 2; ++again) {
    CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_ERROR_SERVER && order == NULL);
    const char* const message = billcore_error_message(err).data;
    CHECK(strstr(message, "GET /subscription/s/orders?page=7: 500 the service failed [request id ") == message);
    CHECK(is_text(billcore_error_path(err), "/subscription/s/orders") && billcore_error_http_status(err) == 500);
    billcore_error_free(err);
  }
  CHECK(billcore_order_list_next(list, &order, NULL) == BILLCORE_ERROR_SERVER && order == NULL);
  billcore_buf state = state_of(list);
  broken = 0;
  billcore_client* other = client_of(at, "another-key", NULL, NULL);
  CHECK_OK(new_list(other, "s", (billcore_str){state.data, state.len}, false, NULL, &rest, &err));
  billcore_client_free(other);
  billcore_buf_free(&state); /* the list copied the state */
  read_to_the_end(rest, 6 * per_page);
  billcore_order_list_free(rest);
  read_to_the_end(list, 6 * per_page);
  billcore_order_list_free(list);
}

static void test_waiting_in_vain(const server* at) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_order_list* list = NULL;
  billcore_call_options* soon = NULL;
  billcore_client* plain = client_of(at, "key", asked_to_stop, NULL);
  billcore_client* client = several_at_once(plain, 2);
  CHECK_OK(billcore_call_options_new(&soon, &err));
  CHECK_OK(billcore_call_options_set_timeout_ms(soon, 200, &err));
  CHECK_OK(new_list(client, "s", (billcore_str){NULL, 0}, false, soon, &list, &err));
  billcore_call_options_free(soon);
  silent = 2;
  patient = true;
  read_items(list, 0, per_page);
  CHECK_FAILS(billcore_order_list_next(list, &order, &err), BILLCORE_ERROR_TIMEOUT,
              "GET /subscription/s/orders?page=2: no ");
  stop_waiting = true;
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_ERROR_INTERRUPTED && order == NULL);
  CHECK(is_text(billcore_error_message(err), "GET /subscription/s/orders?page=2: interrupted"));
  billcore_error_free(err);
  stop_waiting = false;
  silent = 0;
  read_to_the_end(list, per_page);
  patient = false;
  billcore_order_list_free(list);
  billcore_client_free(client);
  billcore_client_free(plain);
}

static void refused(const billcore_client* client, billcore_str state, const char* words) {
  billcore_error* err = NULL;
  billcore_order_list* list = NULL;
  CHECK_FAILS(new_list(client, "s", state, false, NULL, &list, &err), BILLCORE_ERROR_INVALID_ARGUMENT, words);
  CHECK(list == NULL);
}

static void test_states(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_list* list = orders_of(client);
  billcore_order_list* other = NULL;
  billcore_subscription_query* subscriptions = NULL;
  billcore_subscription_list* subscription_list = NULL;
  billcore_product_query* products = NULL;
  billcore_product_list* product_list = NULL;
  billcore_buf buf;
  requests = 0;
  billcore_buf state = state_of(list); /* the state of a list from which nothing was read */
  const billcore_str whole = {state.data, state.len};
  CHECK(requests == 0);
  CHECK_OK(new_list(client, "s", whole, false, NULL, &other, &err));
  read_to_the_end(other, 0);
  billcore_order_list_free(other);

  for (size_t len = 0; len < state.len; ++len) refused(client, (billcore_str){state.data, len}, "resume");
  for (size_t i = 0; i < state.len; ++i) {
    const char right = state.data[i];
    state.data[i] = right == 'A' ? 'B' : 'A';
    refused(client, whole, "resume is not the state");
    state.data[i] = right;
  }
  refused(client, (billcore_str){state.data, state.len + 1}, "resume"); /* NUL is not part of a state */
  CHECK_FAILS(new_list(client, "t", whole, false, NULL, &other, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "another list");
  CHECK_FAILS(new_list(client, "s", whole, true, NULL, &other, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "strict");
  CHECK_OK(billcore_subscription_query_new(&subscriptions, &err));
  CHECK_OK(billcore_subscription_query_set_strict(subscriptions, true, &err));
  CHECK_OK(billcore_subscription_query_set_strict(subscriptions, false, &err));
  CHECK_OK(billcore_subscription_query_set_resume(subscriptions, whole, &err));
  CHECK_FAILS(billcore_subscription_list_new(client, subscriptions, NULL, &subscription_list, &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "another list");
  CHECK_OK(billcore_subscription_query_set_resume(subscriptions, (billcore_str){NULL, 0}, &err));
  CHECK_FAILS(billcore_subscription_list_new(client, subscriptions, NULL, &subscription_list, &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "resume is not the state");
  billcore_subscription_query_free(subscriptions);
  CHECK_OK(billcore_product_query_new(&products, &err));
  CHECK_OK(billcore_product_query_set_resume(products, whole, &err));
  CHECK_FAILS(billcore_product_list_new(client, products, NULL, &product_list, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "another list");
  billcore_product_query_free(products);
  CHECK(subscription_list == NULL && product_list == NULL);

  buf = state;
  CHECK_FAILS(billcore_order_list_state(NULL, &buf, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "");
  CHECK(buf.data == NULL && buf.len == 0);
  CHECK_FAILS(billcore_order_list_state(list, NULL, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "");
  CHECK(billcore_order_list_state(NULL, NULL, NULL) == BILLCORE_ERROR_INVALID_ARGUMENT);
  CHECK(billcore_client_options_set_concurrency(NULL, 1, NULL) == BILLCORE_ERROR_INVALID_ARGUMENT);
  CHECK(billcore_client_changes_set_concurrency(NULL, 1, NULL) == BILLCORE_ERROR_INVALID_ARGUMENT);
  CHECK(billcore_order_query_set_strict(NULL, true, NULL) == BILLCORE_ERROR_INVALID_ARGUMENT);
  CHECK(billcore_order_query_set_resume(NULL, whole, NULL) == BILLCORE_ERROR_INVALID_ARGUMENT);
  billcore_buf_free(&state);
  CHECK(state.data == NULL && state.len == 0);
  billcore_order_list_free(list);

  CHECK_OK(billcore_subscription_list_new(client, NULL, NULL, &subscription_list, &err));
  CHECK_OK(billcore_subscription_list_state(subscription_list, &buf, &err));
  billcore_buf_free(&buf);
  billcore_subscription_list_free(subscription_list);
  CHECK_OK(billcore_product_list_new(client, NULL, NULL, &product_list, &err));
  CHECK_OK(billcore_product_list_state(product_list, &buf, &err));
  billcore_buf_free(&buf);
  billcore_product_list_free(product_list);
}

/* Forks while requests are in flight; then both processes read the rest of the list. (The parent reads first: the
 * server serves one connection at a time, so the open connections of a waiting parent would block the child.) */
static void test_fork(const billcore_client* client) {
  int status = -1;
  int turn[2];
  char byte = 0;
  billcore_order_list* list = orders_of(client);
  read_items(list, 0, 2 * per_page + 1);
  CHECK(pipe(turn) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    close(turn[1]);
    if (read(turn[0], &byte, 1) != 1) _exit(2);
    read_to_the_end(list, 2 * per_page + 1);
    billcore_order_list_free(list);
    _exit(0);
  }
  read_to_the_end(list, 2 * per_page + 1);
  CHECK(write(turn[1], "x", 1) == 1);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  billcore_order_list_free(list);
  close(turn[0]);
  close(turn[1]);
}

/* The setters of a query are generated; no binding calls them, because a binding names an option by its text. */
static void test_parameters(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_query* query = NULL;
  billcore_order_list* list = NULL;
  billcore_order* order = NULL;
  CHECK_OK(billcore_order_query_new(&query, &err));
  CHECK_OK(billcore_order_query_set_per_page(query, 7, &err));
  CHECK_OK(billcore_order_query_set_product_id(query, 42, &err));
  CHECK_OK(billcore_order_query_add_state(query, BILLCORE_STR("paid"), &err));
  CHECK_OK(billcore_order_query_add_state(query, BILLCORE_STR("confirmed"), &err));
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), query, NULL, &list, &err));
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK(filtered);
  billcore_order_free(order);
  billcore_order_list_free(list);
  billcore_order_query_free(query);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* plain = client_of(at, "key", NULL, NULL);
  test_concurrency(at);
  for (int32_t concurrency = 1; concurrency <= 8; concurrency += 7) {
    billcore_client* client = several_at_once(plain, concurrency);
    test_strict(client);
    test_an_error_names_its_page(at, client);
    test_states(client);
    test_fork(client);
    billcore_client_free(client);
  }
  test_parameters(plain);
  test_waiting_in_vain(at);
  billcore_client_free(plain);
  server_stop(at);
  return 0;
}
