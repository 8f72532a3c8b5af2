#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void expect(bool truth, const char* claim) {
  if (truth) return;
  fflush(stdout);
  fprintf(stderr, "story: check failed: %s\n", claim);
  exit(1);
}

void must(billcore_status status, billcore_error** err) {
  if (status == BILLCORE_OK) return;
  fflush(stdout);
  fprintf(stderr, "story: %s: %s\n", billcore_status_name(status), billcore_error_message(*err).data);
  exit(1);
}

bool must_have_next(billcore_status status, billcore_error** err) {
  if (status == BILLCORE_DONE) return false;
  must(status, err);
  return true;
}

bool same_text(billcore_str a, billcore_str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool is_text(billcore_str text, const char* expected) { return same_text(text, billcore_str_from(expected)); }
