#include <billcore.h>
#include <stdio.h>
#include <uv.h>

static billcore_loop* loop;
static int failed;

static void report(billcore_error* error) {
  fprintf(stderr, "%s\n", billcore_error_message(error).data);
  billcore_error_free(error);
  failed = 1;
}

/* Called once for each subscription. */
static void print_end(void* id, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  billcore_subscription* subscription = NULL;
  billcore_str text;
  (void)ticket;
  if (failure == NULL && billcore_result_take_subscription(&result, &subscription, &failure) == BILLCORE_OK &&
      billcore_subscription_status(subscription, &text, &failure) == BILLCORE_OK) {
    printf("%s %s\n", (const char*)id, text.data);
  } else {
    report(failure);
  }
  billcore_subscription_free(subscription);
}

static void on_readable(uv_poll_t* watcher, int status, int events) {
  (void)status, (void)events;
  billcore_error* err = NULL;
  const billcore_status processed =
      billcore_loop_process(loop, NULL, &err); /* calls print_end for each call that has ended */
  if (processed != BILLCORE_OK) report(err);
  if (processed != BILLCORE_OK || billcore_loop_running(loop) == 0)
    uv_poll_stop(watcher); /* uv_run then has nothing left to wait for */
}

int main(int argc, char** argv) {
  if (argc < 2) return fputs("usage: loop_uv SUBSCRIPTION...\n", stderr), 2;
  billcore_client* client = NULL;
  billcore_error* err = NULL;
  billcore_status status = billcore_client_new(NULL, &client, &err); /* uses BILLCORE_BASE_URL and BILLCORE_API_KEY */
  if (status == BILLCORE_OK) status = billcore_loop_new(client, &loop, &err);
  for (int i = 1; i < argc && status == BILLCORE_OK; ++i) {
    billcore_operation* get = NULL;
    status = billcore_operation_new(BILLCORE_STR("subscriptions.get"), &get, &err);
    if (status == BILLCORE_OK)
      status = billcore_operation_set_text(get, BILLCORE_STR("id"), billcore_str_from(argv[i]), &err);
    if (status == BILLCORE_OK) status = billcore_loop_start(loop, get, NULL, print_end, argv[i], NULL, NULL, &err);
    billcore_operation_free(get);
  }
  if (status == BILLCORE_OK) {
    uv_poll_t watcher;
    const int problem = uv_poll_init(uv_default_loop(), &watcher, billcore_loop_descriptor(loop));
    if (problem == 0) {
      uv_poll_start(&watcher, UV_READABLE, on_readable);
      uv_run(uv_default_loop(), UV_RUN_DEFAULT);
      uv_close((uv_handle_t*)&watcher, NULL); /* before billcore_loop_free closes the descriptor */
      uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    } else {
      fprintf(stderr, "%s\n", uv_strerror(problem));
      failed = 1;
    }
  }
  if (status != BILLCORE_OK) report(err);
  uv_loop_close(uv_default_loop());
  billcore_loop_free(loop);
  billcore_client_free(client);
  return failed;
}
