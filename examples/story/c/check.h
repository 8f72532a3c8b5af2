/* Checks. If a check fails, the function ends the program without cleanup. */
#ifndef EXAMPLE_CHECK_H
#define EXAMPLE_CHECK_H

#include <billcore.h>

/* If `truth` is false, prints `claim` and ends the program. */
void expect(bool truth, const char* claim);

/* Ends the program unless the call succeeded: must(billcore_order_total(order, &total, &err), &err). */
void must(billcore_status status, billcore_error** err);

/* Like must(), for the status of a list's next function: returns true if there is an item, false after the last. */
bool must_have_next(billcore_status status, billcore_error** err);

bool is_text(billcore_str text, const char* expected);
bool same_text(billcore_str a, billcore_str b);

#endif
