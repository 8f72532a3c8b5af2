/* A preloaded library that suspends the process (SIGSTOP) when libcurl has connected, just before it sends the
 * request. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/socket.h>

int getsockname(int socket, struct sockaddr* address, socklen_t* size) {
  static int stopped = 0;
  int (*real)(int, struct sockaddr*, socklen_t*) =
      (int (*)(int, struct sockaddr*, socklen_t*))dlsym(RTLD_NEXT, "getsockname");
  const int result = real(socket, address, size);
  if (result == 0 && address->sa_family == AF_INET && !stopped) {
    stopped = 1;
    raise(SIGSTOP);
  }
  return result;
}
