/* A preloaded library that suspends the process (SIGSTOP) at a point of a request, which the environment variable
 * BILLCORE_STOP names:
 *   connected: libcurl has connected, and is about to send the request
 *   sending: just before the request of a write is passed to the kernel, after all checks of the client
 *   sent: just after that */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int write_of = -1; /* the socket of a write that is about to be sent */

static void stop_at(const char* point) {
  static int stopped = 0;
  const char* wanted = getenv("BILLCORE_STOP");
  if (stopped || wanted == NULL || strcmp(wanted, point) != 0) return;
  stopped = 1;
  raise(SIGSTOP);
}

int getsockname(int socket, struct sockaddr* address, socklen_t* size) {
  int (*real)(int, struct sockaddr*, socklen_t*) =
      (int (*)(int, struct sockaddr*, socklen_t*))dlsym(RTLD_NEXT, "getsockname");
  const int result = real(socket, address, size);
  if (result == 0 && address->sa_family == AF_INET) stop_at("connected");
  return result;
}

/* The client sets SO_LINGER on the socket of a write before it sends the write. */
int setsockopt(int socket, int level, int name, const void* value, socklen_t size) {
  int (*real)(int, int, int, const void*, socklen_t) =
      (int (*)(int, int, int, const void*, socklen_t))dlsym(RTLD_NEXT, "setsockopt");
  if (level == SOL_SOCKET && name == SO_LINGER && ((const struct linger*)value)->l_onoff) write_of = socket;
  return real(socket, level, name, value, size);
}

ssize_t send(int socket, const void* bytes, size_t count, int flags) {
  ssize_t (*real)(int, const void*, size_t, int) = (ssize_t(*)(int, const void*, size_t, int))dlsym(RTLD_NEXT, "send");
  if (socket == write_of) stop_at("sending");
  const ssize_t result = real(socket, bytes, count, flags);
  if (socket == write_of) stop_at("sent");
  return result;
}
