/* A preloaded library that replaces getaddrinfo(): every look-up takes $SLOW_DNS_SECONDS seconds and then fails. */
#define _GNU_SOURCE
#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

int getaddrinfo(const char* node, const char* service, const struct addrinfo* hints, struct addrinfo** result) {
  const char* seconds = getenv("SLOW_DNS_SECONDS");
  (void)node, (void)service, (void)hints;
  *result = NULL;
  sleep((unsigned)(seconds == NULL ? 20 : atoi(seconds)));
  return EAI_AGAIN;
}
