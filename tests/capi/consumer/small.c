/* Uses libbillcore-webhook alone. */
#include <billcore/webhook.h>
#include <stdio.h>

int main(void) {
  const billcore_str secret = BILLCORE_STR("0123456789abcdef0123456789abcdef");
  billcore_buf signature;
  billcore_error* err;
  if (billcore_webhook_sign(BILLCORE_STR("{}"), secret, &signature, &err) != BILLCORE_OK) {
    printf("%s\n", billcore_error_message(err).data);
    return 1;
  }
  const billcore_str header = {signature.data, signature.len};
  const billcore_status status = billcore_webhook_verify(BILLCORE_STR("{}"), header, secret, NULL);
  billcore_buf_free(&signature);
  return status != BILLCORE_OK;
}
