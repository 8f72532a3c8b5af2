/* Tests a loop where threads, processes, descriptors and its client do what they should not. */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/loop.h"

/* When a process with threads forks, ThreadSanitizer does not watch the child, and gcc 12's can make the child hang. */
#ifdef __SANITIZE_THREAD__
static const bool can_fork = false;
#else
static const bool can_fork = true;
#endif

static billcore_loop* shared;
static billcore_operation* again;

static atomic_ullong latest; /* the ticket that was given last; 0 ends cancel_latest */

static void* cancel_latest(void* loop) {
  for (billcore_ticket ticket; (ticket = latest) != 0;) {
    CHECK(billcore_loop_cancel(loop, ticket, NULL) == BILLCORE_OK);
    sched_yield();
  }
  return NULL;
}

/* Another thread cancels calls at any moment: each call ends once, with its answer or as cancelled. */
static void test_cancelling_thread(const billcore_client* client) {
  enum { calls = 300 };
  billcore_loop* loop = new_loop(client);
  static noted each[calls];
  pthread_t thread;
  memset(each, 0, sizeof each);
  for (int i = 0; i < calls; ++i) {
    start_and_free(loop, i % 2 == 0 ? make_get("o") : make_charge("s"), &each[i]);
    latest = each[i].ticket;
    if (i == 0) CHECK(pthread_create(&thread, NULL, cancel_latest, loop) == 0);
    if (i % 3 == 0) drive_until(loop, &each[i].ends, 1);
  }
  for (int i = 0; i < calls; ++i) drive_until(loop, &each[i].ends, 1);
  latest = 0;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(billcore_loop_running(loop) == 0);
  for (int i = 0; i < calls; ++i) {
    CHECK(each[i].ends == 1 && each[i].releases == 1);
    CHECK(each[i].status == BILLCORE_OK || each[i].status == BILLCORE_ERROR_INTERRUPTED);
    forget(&each[i]);
  }
  billcore_loop_free(loop);
}

static int fork_and_check(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child > 0) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
  }
  noted context = {0};
  const billcore_status config = BILLCORE_ERROR_CONFIG;
  bool more = true;
  CHECK_FAILS(billcore_loop_process(shared, &more, &err), config, "forked");
  CHECK(!more);
  CHECK_FAILS(billcore_loop_start(shared, again, NULL, note_end, &context, note_release, NULL, &err), config, "forked");
  CHECK_FAILS(billcore_loop_cancel(shared, 1, &err), config, "forked");
  CHECK(context.releases == 1 && context.ends == 0);
  billcore_loop_free(shared);
  _exit(0);
}

static pid_t child_of_callback = -1;
static void fork_within(void) {
  if (child_of_callback < 0) child_of_callback = fork();
}

static void test_fork(const billcore_client* client) {
  noted context = {0};
  shared = new_loop(client);
  again = make_get("o");
  start(shared, again, &context);
  CHECK(fork_and_check() == 0);
  expect_order(shared, &context); /* the parent's call goes on */

  /* Both calls end at once. In the child of a callback's fork no further call ends. */
  noted each[2] = {{.then = fork_within}, {.then = fork_within}};
  for (int i = 0; i < 2; ++i) {
    start_and_free(shared, make_get("held"), &each[i]);
    CHECK_OK(billcore_loop_cancel(shared, each[i].ticket, &err));
  }
  while (each[0].ends + each[1].ends < 2) {
    const billcore_status status = process(shared, NULL);
    if (child_of_callback == 0) {
      CHECK(status == BILLCORE_ERROR_CONFIG && each[0].ends + each[1].ends == 1);
      billcore_loop_free(shared);
      _exit(0);
    }
    CHECK(status == BILLCORE_OK);
  }
  int status = -1;
  CHECK(waitpid(child_of_callback, &status, 0) == child_of_callback && status == 0);
  for (int i = 0; i < 2; ++i) forget(&each[i]);
  billcore_operation_free(again);
  billcore_loop_free(shared);
}

static void exit_within(void) { exit(0); }

/* A callback may end the process. */
static void test_exit(const server* at) {
  const pid_t child = fork();
  if (child == 0) {
    static noted context = {.then = exit_within};
    billcore_client* client = client_of(at);
    shared = new_loop(client);
    again = make_get("o");
    start(shared, again, &context);
    drive_until(shared, &context.ends, 2);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void* use_loop(void* given) {
  billcore_error* failed = NULL;
  billcore_ticket ticket = 7;
  CHECK(billcore_loop_start(shared, given, NULL, NULL, NULL, NULL, &ticket, &failed) ==
            BILLCORE_ERROR_INVALID_ARGUMENT &&
        ticket == 0);
  CHECK(strstr(billcore_error_message(failed).data, "two threads") != NULL);
  billcore_error_free(failed);
  return NULL;
}

static void use_in_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_loop, again) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void test_two_threads(const billcore_client* client) {
  noted context = {.then = use_in_thread};
  shared = new_loop(client);
  again = make_get("o");
  start(shared, again, &context);
  drive_until(shared, &context.ends, 1);
  forget(&context);
  billcore_operation_free(again);
  billcore_loop_free(shared);
}

/* If the program closes the descriptor, calls still end as long as the program calls process, which says so. */
static void test_closed_descriptor(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted context = {0};
  /* Another file takes the number, so that the loop closes no descriptor of the test. */
  CHECK(dup2(STDOUT_FILENO, billcore_loop_descriptor(loop)) == billcore_loop_descriptor(loop));
  start_and_free(loop, make_get("o"), &context);
  while (context.ends == 0) {
    CHECK(process(loop, NULL) == BILLCORE_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(billcore_error_message(err).data, "was closed") != NULL);
    billcore_error_free(err);
    err = NULL;
  }
  expect_order(loop, &context);
  billcore_loop_free(loop);
}

static void test_no_descriptors(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_loop* none = NULL;
  noted context = {0};
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const int next = dup(STDOUT_FILENO);
  CHECK(next >= 0);
  close(next);
  const struct rlimit low = {(rlim_t)next, limit.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK_FAILS(billcore_loop_new(client, &none, &err), BILLCORE_ERROR_INTERNAL, "Too many open files");
  start_and_free(loop, make_charge("s"), &context);
  drive_until(loop, &context.ends, 1);
  CHECK(context.status == BILLCORE_ERROR_CONNECTION && !billcore_error_outcome_unknown(context.failure));
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  forget(&context);
  start_and_free(loop, make_get("o"), &context);
  expect_order(loop, &context);
  billcore_loop_free(loop);
}

static void test_closed_client(const server* at) {
  billcore_client* client = client_of(at);
  billcore_loop* loop = new_loop(client);
  billcore_order_list* list = orders_of(client, "s", NULL);
  billcore_operation* charge = make_charge("s");
  noted context = {0};
  start_and_free(loop, make_get("o"), &context);
  CHECK_OK(billcore_client_close(client, &err));
  CHECK_FAILS(billcore_loop_start(loop, charge, NULL, note_end, NULL, NULL, NULL, &err), BILLCORE_ERROR_CONFIG,
              "the client is closed");
  CHECK_FAILS(billcore_loop_fetch(loop, (billcore_list*)list, note_end, NULL, NULL, NULL, &err), BILLCORE_ERROR_CONFIG,
              "the client is closed");
  billcore_loop* late = NULL;
  CHECK_FAILS(billcore_loop_new(client, &late, &err), BILLCORE_ERROR_CONFIG, "the client is closed");
  billcore_client_free(client);
  expect_order(loop, &context);
  billcore_operation_free(charge);
  billcore_loop_free(loop);
  billcore_order_list_free(list);
}

int main(void) {
  server* at = server_start(usual_answer);
  billcore_client* client = client_of(at);
  test_cancelling_thread(client);
  if (can_fork) {
    test_fork(client);
    test_exit(at);
  }
  test_two_threads(client);
  test_closed_descriptor(client);
  test_no_descriptors(client);
  test_closed_client(at);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
