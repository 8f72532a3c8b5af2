/* Tests callbacks that use the loop that calls them. */
#define _GNU_SOURCE

#include "support/loop.h"

static billcore_loop* shared;
static billcore_operation* again;
static noted second_call;
static noted held;

static void start_another(void) {
  CHECK_OK(billcore_loop_start(shared, again, NULL, note_end, &second_call, NULL, NULL, &err));
}
static void cancel_another(void) { CHECK_OK(billcore_loop_cancel(shared, held.ticket, &err)); }
static void free_loop(void) { billcore_loop_free(shared); }
static void process_within(void) { CHECK_INVALID(billcore_loop_process(shared, NULL, &err), "a callback called"); }
static void free_in_hook(void* context, const billcore_attempt* attempt) {
  if (attempt->moment == *(const billcore_moment*)context) billcore_loop_free(shared);
}

static void test_callbacks_that_act(const billcore_client* client) {
  noted first = {.then = start_another};
  shared = new_loop(client);
  again = make_get("o");
  start(shared, again, &first);
  drive_until(shared, &second_call.ends, 1);
  CHECK(first.ends == 1 && second_call.status == BILLCORE_OK);
  forget(&first), forget(&second_call);

  start_and_free(shared, make_get("held"), &held);
  first.then = cancel_another;
  start(shared, again, &first);
  expect_end(shared, &held, BILLCORE_ERROR_INTERRUPTED);
  forget(&first);

  first.then = process_within;
  start(shared, again, &first);
  drive_until(shared, &first.ends, 1);
  forget(&first);

  /* Ends that wait for the same process are given up with the loop. */
  first.then = free_loop;
  noted others[3] = {{0}};
  start(shared, again, &first);
  for (int i = 0; i < 3; ++i) start_and_free(shared, make_get("held"), &others[i]);
  while (first.ends == 0) {
    struct pollfd descriptor = {billcore_loop_descriptor(shared), POLLIN, 0};
    bool more = true;
    CHECK(poll(&descriptor, 1, -1) == 1 && process(shared, &more) == BILLCORE_OK);
    CHECK(first.ends == 0 || !more);
  }
  for (int i = 0; i < 3; ++i) CHECK(others[i].ends == 0 && others[i].releases == 1);
  forget(&first);

  /* A hook may free the loop: before the request, and after the answer. */
  static billcore_moment moments[2] = {BILLCORE_MOMENT_REQUEST, BILLCORE_MOMENT_RESPONSE};
  for (int i = 0; i < 2; ++i) {
    billcore_call_options* options = new_call_options();
    CHECK_OK(billcore_call_options_set_hook(options, free_in_hook, &moments[i], NULL, &err));
    shared = new_loop(client);
    start_with(shared, again, options, &first);
    drive_until(shared, &first.releases, 1);
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
  noted* self = &game.calls[game.count++];
  billcore_status status;
  self->then = act;
  if (draw(3) == 0 && game.list != NULL) {
    billcore_list* list = (billcore_list*)(void*)game.list;
    status = billcore_loop_fetch(shared, list, note_end, self, note_release, &self->ticket, NULL);
  } else {
    billcore_operation* operation = draw(4) == 0 ? make_charge(ids[draw(4)]) : make_get(ids[draw(4)]);
    status = billcore_loop_start(shared, operation, NULL, note_end, self, note_release, &self->ticket, NULL);
    billcore_operation_free(operation);
  }
  /* One fetch at a time, or the loop was freed. */
  CHECK(status == BILLCORE_OK || status == BILLCORE_ERROR_INVALID_ARGUMENT);
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
      CHECK_OK(billcore_loop_cancel(shared, game.calls[draw(most_calls)].ticket, &err));
      break;
    default:
      start_one();
  }
}

static void test_random_callbacks(const billcore_client* client) {
  for (unsigned round = 0; round < 150; ++round) {
    memset(&game, 0, sizeof game);
    game.random = round;
    game.list = orders_of(client, "s", NULL);
    shared = new_loop(client);
    for (int i = 0; i < 6; ++i) start_one();
    for (unsigned turns = 20 + draw(20); turns > 0 && !game.is_freed; --turns) turn(shared, 1);
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
  server* at = server_start(usual_answer);
  billcore_client* client = client_of(at);
  test_callbacks_that_act(client);
  test_random_callbacks(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
