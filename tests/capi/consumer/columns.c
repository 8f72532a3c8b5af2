/* Calls libbillcore-arrow, with NULL instead of a list. */
#include <billcore.h>
#include <billcore/arrow.h>

int main(void) {
  struct ArrowArray array = {.length = 1};
  billcore_error* err = NULL;
  const billcore_status status = billcore_order_list_next_arrow(NULL, &array, NULL, &err);
  billcore_error_free(err);
  return status != BILLCORE_ERROR_INVALID_ARGUMENT || array.length != 0 || array.release != NULL;
}
