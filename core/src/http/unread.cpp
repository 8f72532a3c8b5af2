// Reads what has arrived before a connection counts as broken. When sending fails, libcurl ends the transfer, even if
// the answer, or HTTP/2's proof that the request was not processed, is waiting in the socket. The linker redirects
// libcurl's calls of send() to this file, in the Python wheel only: see core/cmake/dependencies.cmake.
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>

extern "C" {
ssize_t billcore_kernel_send(int descriptor, const void* bytes, std::size_t count, int flags) asm("__real_send");
ssize_t billcore_send(int descriptor, const void* bytes, std::size_t count, int flags) asm("__wrap_send");

// Reports success for a connection that the peer has closed or reset, as long as there is something to read. Then
// libcurl reads it, and sees the end of the connection there.
ssize_t billcore_send(int descriptor, const void* bytes, std::size_t count, int flags) {
  const auto sent = billcore_kernel_send(descriptor, bytes, count, flags);
  if (sent >= 0 || (errno != EPIPE && errno != ECONNRESET)) return sent;
  const int reason = errno;
  int unread = 0;
  if (ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0) return static_cast<ssize_t>(count);
  errno = reason;
  return sent;
}
}
