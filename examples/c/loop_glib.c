#include <billcore.h>
#include <glib-unix.h>
#include <stdio.h>

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

static gboolean on_readable(gint descriptor, GIOCondition condition, gpointer main_loop) {
  (void)descriptor, (void)condition;
  billcore_error* err = NULL;
  const billcore_status processed =
      billcore_loop_process(loop, NULL, &err); /* calls print_end for each call that has ended */
  if (processed != BILLCORE_OK) report(err);
  if (processed == BILLCORE_OK && billcore_loop_running(loop) > 0) return G_SOURCE_CONTINUE;
  g_main_loop_quit(main_loop);
  return G_SOURCE_REMOVE; /* before billcore_loop_free closes the descriptor */
}

int main(int argc, char** argv) {
  if (argc < 2) return fputs("usage: loop_glib SUBSCRIPTION...\n", stderr), 2;
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
    GMainLoop* main_loop = g_main_loop_new(NULL, FALSE);
    g_unix_fd_add(billcore_loop_descriptor(loop), G_IO_IN, on_readable, main_loop);
    g_main_loop_run(main_loop);
    g_main_loop_unref(main_loop);
  }
  if (status != BILLCORE_OK) report(err);
  billcore_loop_free(loop);
  billcore_client_free(client);
  return failed;
}
