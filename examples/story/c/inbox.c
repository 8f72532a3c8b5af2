#include "inbox.h"

#include <string.h>
#include <time.h>

#include "check.h"

void inbox_init(inbox* box) {
  memset(box, 0, sizeof *box);
  pthread_mutex_init(&box->lock, NULL);
  pthread_cond_init(&box->changed, NULL);
}

void inbox_destroy(inbox* box) {
  for (size_t i = 0; i < box->event_count; ++i) billcore_event_free(box->events[i]);
  for (size_t i = 0; i < box->duplicate_count; ++i) billcore_event_free(box->duplicates[i]);
  billcore_verifier_free(box->verifier);
  pthread_cond_destroy(&box->changed);
  pthread_mutex_destroy(&box->lock);
}

void inbox_trust(inbox* box, const char* secret) {
  billcore_error* err = NULL;
  pthread_mutex_lock(&box->lock);
  must(billcore_verifier_new(billcore_str_from(secret), NULL, &box->verifier, &err), &err);
  pthread_mutex_unlock(&box->lock);
}

/* Sets *out to whether the event was received before. Every test.hook has the id 0, so a test.hook never counts as a
 * duplicate. */
static billcore_status is_duplicate(const inbox* box, const billcore_event* event, bool* out, billcore_error** err) {
  billcore_event_kind type;
  billcore_str id;
  int64_t account;
  *out = false;
  billcore_status status = billcore_event_type(event, &type, err);
  if (status != BILLCORE_OK || type == BILLCORE_EVENT_TEST_HOOK) return status;
  if ((status = billcore_event_id(event, &id, NULL, err)) != BILLCORE_OK) return status;
  if ((status = billcore_event_account(event, &account, err)) != BILLCORE_OK) return status;
  for (size_t i = 0; i < box->event_count && !*out; ++i) {
    billcore_str other_id;
    int64_t other_account;
    if ((status = billcore_event_id(box->events[i], &other_id, NULL, err)) != BILLCORE_OK) return status;
    if ((status = billcore_event_account(box->events[i], &other_account, err)) != BILLCORE_OK) return status;
    *out = account == other_account && same_text(id, other_id);
  }
  return BILLCORE_OK;
}

/* Keeps or frees the event, and sets *answer to the HTTP status of the answer. With a database, do the duplicate
 * check and the event's effect in one transaction. */
static billcore_status keep(inbox* box, billcore_event* event, unsigned* answer, billcore_error** err) {
  bool duplicate;
  const billcore_status status = is_duplicate(box, event, &duplicate, err);
  if (status != BILLCORE_OK || box->event_count == INBOX_MAX || box->duplicate_count == INBOX_MAX) {
    billcore_event_free(event);
    *answer = 500;
    return status;
  }
  if (duplicate) {
    box->duplicates[box->duplicate_count++] = event;
    *answer = 200;
    return BILLCORE_OK;
  }
  box->events[box->event_count++] = event;
  /* Only in this example: although the first event was kept, answer 500, so that the service delivers it again. */
  *answer = box->event_count == 1 ? 500 : 200;
  return BILLCORE_OK;
}

unsigned inbox_receive(void* context, billcore_str body, const billcore_headers* headers) {
  inbox* box = context;
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  unsigned answer = 503;
  pthread_mutex_lock(&box->lock);
  if (box->verifier != NULL) {
    billcore_status status = billcore_verifier_unwrap_request(box->verifier, body, headers, &event, &err);
    if (status == BILLCORE_OK) status = keep(box, event, &answer, &err);
    if (status == BILLCORE_ERROR_SIGNATURE) {
      if (box->refused_count < INBOX_MAX) box->refused[box->refused_count++] = billcore_error_reason(err);
      answer = (unsigned)billcore_error_http_status(err);
    } else if (status != BILLCORE_OK) {
      answer = status == BILLCORE_ERROR_DECODE ? 400 : 500; /* 400: signed, but not readable */
    }
    billcore_error_free(err);
  }
  pthread_cond_broadcast(&box->changed);
  pthread_mutex_unlock(&box->lock);
  return answer;
}

void inbox_wait(inbox* box, size_t events, size_t duplicates) {
  const struct timespec deadline = {.tv_sec = time(NULL) + 30};
  int late = 0;
  pthread_mutex_lock(&box->lock);
  while (late == 0 && (box->event_count < events || box->duplicate_count < duplicates)) {
    late = pthread_cond_timedwait(&box->changed, &box->lock, &deadline);
  }
  pthread_mutex_unlock(&box->lock);
}
