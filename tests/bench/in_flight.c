/* Starts many calls on one loop, waits for their ends, and prints what they cost.
 * Usage: in-flight BASE_URL CALLS [CA_BUNDLE] */
#include <billcore.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long failed;

/* Returns a number of /proc/self/status: in KB for VmRSS and VmHWM, the memory used now and its peak. */
static long status_of(const char* name) {
  char line[256];
  long number = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) number = strtol(line + strlen(name) + 1, NULL, 10);
  }
  if (status != NULL) fclose(status);
  return number;
}

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void require(billcore_status status, billcore_error* err) {
  if (status == BILLCORE_OK) return;
  fprintf(stderr, "in-flight: %s\n", billcore_error_message(err).data);
  exit(1);
}

static void count(void* context, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  (void)context, (void)ticket;
  if (failure != NULL && failed++ == 0) fprintf(stderr, "in-flight: %s\n", billcore_error_message(failure).data);
  billcore_result_free(result);
  billcore_error_free(failure);
}

int main(int argc, char** argv) {
  if (argc < 3) return fputs("usage: in-flight BASE_URL CALLS [CA_BUNDLE]\n", stderr), 2;
  const long calls = atol(argv[2]);
  billcore_client_options* options = NULL;
  billcore_client* client = NULL;
  billcore_loop* loop = NULL;
  billcore_operation* get = NULL;
  billcore_error* err = NULL;
  require(billcore_client_options_new(&options, &err), err);
  require(billcore_client_options_set_base_url(options, billcore_str_from(argv[1]), &err), err);
  require(billcore_client_options_set_api_key(options, BILLCORE_STR("key"), &err), err);
  if (argc > 3) require(billcore_client_options_set_ca_bundle(options, billcore_str_from(argv[3]), &err), err);
  require(billcore_client_new(options, &client, &err), err);
  require(billcore_loop_new(client, &loop, &err), err);
  require(billcore_operation_new(BILLCORE_STR("orders.get"), &get, &err), err);
  require(billcore_operation_set_text(get, BILLCORE_STR("id"), BILLCORE_STR("ord_1"), &err), err);
  /* Round 0 is not measured: its one call initialises the libraries and connects. */
  struct pollfd ready = {billcore_loop_descriptor(loop), POLLIN, 0};
  const long counts[2] = {1, calls};
  for (int round = 0; round < 2; ++round) {
    const long before = status_of("VmRSS:");
    const double begun = now();
    clock_t longest = 0;
    for (long i = 0; i < counts[round]; ++i)
      require(billcore_loop_start(loop, get, NULL, count, NULL, NULL, NULL, &err), err);
    const double started = now();
    long most_threads = 0;
    while (billcore_loop_running(loop) > 0) {
      poll(&ready, 1, -1);
      const clock_t turn = clock(); /* processor time: other programs may use the processor meanwhile */
      require(billcore_loop_process(loop, NULL, &err), err);
      if (clock() - turn > longest) longest = clock() - turn;
      if (status_of("Threads:") > most_threads) most_threads = status_of("Threads:");
    }
    if (round == 1) {
      printf("%.2f KB a call; started in %.2f s, ended after %.2f s; longest turn %.1f ms; %ld threads; %ld failed\n",
             (double)(status_of("VmHWM:") - before) / (double)calls, started - begun, now() - begun,
             (double)longest * 1e3 / CLOCKS_PER_SEC, most_threads, failed);
    }
  }
  billcore_operation_free(get);
  billcore_loop_free(loop);
  billcore_client_free(client);
  billcore_client_options_free(options);
  return failed != 0;
}
