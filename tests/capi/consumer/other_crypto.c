/* Signs and verifies in a process that also loads another libcrypto.
 * Usage: other-crypto before|after local|global OTHER_LIBCRYPTO
 * If LOADED is defined, the program opens libbillcore by dlopen(), before or after the other libcrypto; otherwise it is
 * linked with libbillcore. */
#define _GNU_SOURCE

#include <billcore.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef LOADED
static void* ours;
#define CALL(name) (*(__typeof__(name)*)dlsym(ours, #name))
#else
#define CALL(name) name
#endif

static void* open_library(const char* path, int flags) {
  void* out = dlopen(path, flags | RTLD_NOW);
  if (out == NULL) fprintf(stderr, "%s\n", dlerror());
  return out;
}

static int open_ours(void) {
#ifdef LOADED
  if (ours == NULL) ours = open_library("libbillcore.so.0", RTLD_LOCAL);
  return ours != NULL;
#else
  return 1;
#endif
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  if (strcmp(argv[1], "before") != 0 && !open_ours()) return 1;
  if (open_library(argv[3], strcmp(argv[2], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL) == NULL || !open_ours())
    return 1;

  const billcore_str secret = BILLCORE_STR("0123456789abcdef0123456789abcdef");
  const char* expected = "b326604c0dc7364c8b688556189c0a510e5150cd4628736be814c7c9898f899d";
  billcore_buf signature;
  billcore_client_options* options;
  billcore_client* client;
  if (CALL(billcore_webhook_sign)(BILLCORE_STR("{}"), secret, &signature, NULL) != BILLCORE_OK) return 1;
  if (strcmp(signature.data, expected) != 0) {
    fprintf(stderr, "a wrong signature: %s\n", signature.data);
    return 1;
  }
  const billcore_str header = {signature.data, signature.len};
  if (CALL(billcore_webhook_verify)(BILLCORE_STR("{}"), header, secret, NULL) != BILLCORE_OK) return 1;
  CALL(billcore_buf_free)(&signature);

  /* Making a client causes libcurl to initialise OpenSSL. */
  if (CALL(billcore_options_new)(BILLCORE_OPTIONS_OF_CLIENT, (billcore_options**)&options, NULL) != BILLCORE_OK)
    return 1;
  if (CALL(billcore_options_set_text)((billcore_options*)options, BILLCORE_STR("base_url"),
                                      BILLCORE_STR("https://billing.example/account"), NULL) != BILLCORE_OK ||
      CALL(billcore_options_set_text)((billcore_options*)options, BILLCORE_STR("api_key"), BILLCORE_STR("key"), NULL) !=
          BILLCORE_OK ||
      CALL(billcore_client_new)(options, &client, NULL) != BILLCORE_OK)
    return 1;
  CALL(billcore_client_free)(client);
  CALL(billcore_options_free)((billcore_options*)options);
  return 0;
}
