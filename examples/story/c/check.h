/* How the examples stop: they need no cleanup after a failed step. */
#ifndef EXAMPLE_CHECK_H
#define EXAMPLE_CHECK_H

#include <billcore.h>

/* Ends the program unless `claim` is true. */
void expect(bool truth, const char* claim);

/* Ends the program unless the call succeeded: must(billcore_order_total(order, &total, &err), &err). */
void must(billcore_status status, billcore_error** err);

/* The same for iterations: true with an item, false after the last one. */
bool must_have_next(billcore_status status, billcore_error** err);

bool is_text(billcore_str text, const char* expected);
bool same_text(billcore_str a, billcore_str b);

#endif
