/* Both halves in one program. */
#include <billcore.h>
#include <string.h>

int main(void) {
  billcore_client_options* options;
  billcore_client* client = NULL;
  billcore_error* err;
  if (billcore_client_options_new(&options, NULL) != BILLCORE_OK) return 1;
  if (billcore_client_options_set_base_url(options, BILLCORE_STR("no url"), NULL) != BILLCORE_OK) return 1;
  const billcore_status status = billcore_client_new(options, &client, &err);
  const int described = strstr(billcore_error_message(err).data, "base_url") != NULL;
  billcore_error_free(err);
  billcore_client_options_free(options);
  billcore_client_free(client);
  return status != BILLCORE_ERROR_CONFIG || !described || strcmp(billcore_version(), BILLCORE_VERSION) != 0;
}
