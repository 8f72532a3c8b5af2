#include <billcore/webhook.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2; /* verify_webhook SIGNATURE < body */
  static char buffer[1 << 20];
  const billcore_str body = {buffer, fread(buffer, 1, sizeof buffer, stdin)};
  const billcore_str secret = billcore_str_from(getenv("WEBHOOK_SECRET"));
  billcore_error* err = NULL;
  const billcore_status status = billcore_webhook_verify(body, billcore_str_from(argv[1]), secret, &err);
  puts(status == BILLCORE_OK ? "verified" : billcore_error_message(err).data);
  billcore_error_free(err);
  return status != BILLCORE_OK;
}
