/* Uses libbillcore and libbillcore-webhook in one program: signatures, options, columns, and an error that one library
 * makes and the other reads. */
#include <billcore.h>
#include <billcore/arrow.h>
#include <string.h>

static int verifies(void) {
  const billcore_str secret = BILLCORE_STR("0123456789abcdef0123456789abcdef");
  billcore_buf signature;
  if (billcore_webhook_sign(BILLCORE_STR("{}"), secret, &signature, NULL) != BILLCORE_OK) return 0;
  const billcore_str header = {signature.data, signature.len};
  const billcore_status status = billcore_webhook_verify(BILLCORE_STR("{}"), header, secret, NULL);
  billcore_buf_free(&signature);
  return status == BILLCORE_OK;
}

static int has_columns(void) {
  struct ArrowArray array = {.length = 1};
  const billcore_status status = billcore_order_list_next_arrow(NULL, &array, NULL, NULL);
  return status == BILLCORE_ERROR_INVALID_ARGUMENT && array.length == 0 && array.release == NULL;
}

int main(void) {
  billcore_client_options* options;
  billcore_client* client = NULL;
  billcore_error* err;
  if (!verifies() || !has_columns()) return 1;
  if (billcore_client_options_new(&options, NULL) != BILLCORE_OK) return 1;
  if (billcore_client_options_set_base_url(options, BILLCORE_STR("no url"), NULL) != BILLCORE_OK) return 1;
  const billcore_status status = billcore_client_new(options, &client, &err);
  const int described = strstr(billcore_error_message(err).data, "base_url") != NULL;
  billcore_error_free(err);
  billcore_client_options_free(options);
  billcore_client_free(client);
  return status != BILLCORE_ERROR_CONFIG || !described || strcmp(billcore_version(), BILLCORE_VERSION) != 0;
}
