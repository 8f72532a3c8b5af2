/* Tests callbacks that use the loop that calls them. */
#define _GNU_SOURCE

#include "support/loop.h"

static billcore_loop* shared;
static billcore_operation* again;
static noted second_call;
static billcore_ticket to_cancel;

static void start_another(void) {
  CHECK_OK(billcore_loop_start(shared, again, NULL, note_end, &second_call, NULL, NULL, &err));
}
static void cancel_another(void) { CHECK_OK(billcore_loop_cancel(shared, to_cancel, &err)); }
static void free_loop(void) { billcore_loop_free(shared); }
static void process_within(void) {
  CHECK_FAILS(billcore_loop_process(shared, NULL, &err), invalid, "a callback called");
}
static void free_in_hook(void* context, const billcore_attempt* attempt) {
  if (attempt->moment == *(const billcore_moment*)context) billcore_loop_free(shared);
}

static void test_callbacks_that_act(const billcore_client* client) {
  noted first = {.then = start_another};
  noted held = {0};
  shared = new_loop(client);
  again = make("orders.get", "o");
  start(shared, again, &first);
  drive_until(shared, &second_call.ends, 1);
  CHECK(first.ends == 1 && second_call.status == BILLCORE_OK);
  forget(&first), forget(&second_call);

  to_cancel = start_and_free(shared, make("orders.get", "held"), &held);
  first.then = cancel_another;
  start(shared, again, &first);
  drive_until(shared, &held.ends, 1);
  CHECK(held.status == BILLCORE_ERROR_INTERRUPTED);
  forget(&first), forget(&held);

  first.then = process_within;
  start(shared, again, &first);
  drive_until(shared, &first.ends, 1);
  forget(&first);

  /* Ends that wait for the same process are given up with the loop. */
  first.then = free_loop;
  noted others[3] = {{0}};
  start(shared, again, &first);
  for (int i = 0; i < 3; ++i) start_and_free(shared, make("orders.get", "held"), &others[i]);
  while (first.ends == 0) {
    wait_once(shared);
    bool more = true;
    CHECK(process(shared, &more) == BILLCORE_OK);
    CHECK(first.ends == 0 || !more);
  }
  for (int i = 0; i < 3; ++i) CHECK(others[i].ends == 0 && others[i].releases == 1);
  forget(&first);

  /* A hook may free the loop: before the request, and after the answer. */
  static billcore_moment moments[2] = {BILLCORE_MOMENT_REQUEST, BILLCORE_MOMENT_RESPONSE};
  for (int i = 0; i < 2; ++i) {
    billcore_call_options* options = NULL;
    CHECK_OK(billcore_call_options_new(&options, &err));
    CHECK_OK(billcore_call_options_set_hook(options, free_in_hook, &moments[i], NULL, &err));
    shared = new_loop(client);
    CHECK_OK(billcore_loop_start(shared, again, options, note_end, &first, note_release, NULL, &err));
    while (first.releases == 0) {
      wait_once(shared);
      CHECK(process(shared, NULL) == BILLCORE_OK);
    }
    CHECK(first.ends == 0);
    forget(&first);
    billcore_call_options_free(options);
  }
  billcore_operation_free(again);
}

/* Random callbacks start, cancel and fetch, and free the list and the loop, also while other ends wait: each context is
 * released once, after at most one end. */
enum { most_calls = 24 };
static struct {
  noted calls[most_calls];
  billcore_ticket tickets[most_calls];
  int count;
  billcore_order_list* list;
  bool is_freed; /* the loop */
  unsigned random;
} game;

static unsigned draw(unsigned below) {
  game.random = game.random * 1103515245u + 12345u;
  return (game.random >> 16) % below;
}

static void act(void);

static void start_one(void) {
  static const char* const ids[] = {"o", "o", "none", "held"};
  if (game.count == most_calls) return;
  const int number = game.count++;
  noted* self = &game.calls[number];
  self->then = act;
  if (draw(3) == 0 && game.list != NULL) {
    billcore_list* list = (billcore_list*)game.list;
    const billcore_status status =
        billcore_loop_fetch(shared, list, note_end, self, note_release, &game.tickets[number], NULL);
    CHECK(status == BILLCORE_OK || status == invalid); /* one fetch at a time, or the loop was freed */
  } else {
    billcore_operation* operation = draw(4) == 0 ? make_charge(ids[draw(4)]) : make("orders.get", ids[draw(4)]);
    const billcore_status status =
        billcore_loop_start(shared, operation, NULL, note_end, self, note_release, &game.tickets[number], NULL);
    CHECK(status == BILLCORE_OK || status == invalid);
    billcore_operation_free(operation);
  }
}

static void act(void) {
  switch (draw(30)) {
    case 0:
      billcore_loop_free(shared); /* when process returns */
      game.is_freed = true;
      break;
    case 1:
      billcore_order_list_free(game.list);
      game.list = NULL;
      break;
    case 2:
    case 3:
    case 4:
    case 5:
      CHECK_OK(billcore_loop_cancel(shared, game.tickets[draw(most_calls)], &err));
      break;
    default:
      start_one();
  }
}

static void test_random_callbacks(const billcore_client* client) {
  for (unsigned round = 0; round < 150; ++round) {
    memset(&game, 0, sizeof game);
    game.random = round;
    game.list = list_of(client, "s");
    shared = new_loop(client);
    for (int i = 0; i < 6; ++i) start_one();
    for (unsigned turns = 20 + draw(20); turns > 0 && !game.is_freed; --turns) {
      struct pollfd descriptor = {billcore_loop_descriptor(shared), POLLIN, 0};
      CHECK(poll(&descriptor, 1, 1) >= 0);
      CHECK(process(shared, NULL) == BILLCORE_OK);
    }
    if (!game.is_freed) billcore_loop_free(shared);
    for (int i = 0; i < most_calls; ++i) {
      const bool was_given = game.calls[i].then != NULL;
      CHECK(game.calls[i].releases == (was_given ? 1 : 0) && game.calls[i].ends <= 1);
      forget(&game.calls[i]);
    }
    billcore_order_list_free(game.list);
  }
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  test_callbacks_that_act(client);
  test_random_callbacks(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
