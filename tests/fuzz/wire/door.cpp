#include "door.hpp"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "clock.hpp"
#include "support.hpp"

namespace billcore::fuzz {
namespace {

// How long to wait at most, in milliseconds of real time, until the kernel delivers a packet on loopback. Sent bytes
// must arrive before the client reads, so that runs are repeatable; the end of a stream may arrive later.
constexpr int data_patience = 100;
constexpr int end_patience = 10;
constexpr int much_unread = 16 << 10;  // if more bytes are unread, the client's receive buffer may be full

struct Door {
  Door() : descriptor(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    require(bind(descriptor, any, size) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, any, &size) == 0,
            "the peer listens on loopback");
    port = ntohs(address.sin_port);
  }
  int descriptor;
  int port = 0;
};

const Door& door() {
  static const Door made;
  return made;
}

std::uint64_t bytes_received(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
                                                                          : ~std::uint64_t{0};
}

}  // namespace

int door_port() { return door().port; }

std::optional<Accepted> accept_at_door() {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const int made =
      accept4(door().descriptor, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (made < 0) return std::nullopt;
  const int one = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return Accepted{made, ntohs(address.sin_port)};
}

void await_arrival(int port, std::uint64_t sent) {
  const int other = connected_from(port);
  for (int i = 0; other >= 0 && i < data_patience && bytes_received(other) < sent; ++i) {
    int unread = 0;
    if (ioctl(other, FIONREAD, &unread) != 0 || unread >= much_unread) return;
    static_cast<void>(really_polls(-1, 0, 1));
  }
}

void await_end(int port) {
  if (const int other = connected_from(port); other >= 0) {
    static_cast<void>(really_polls(other, POLLRDHUP, end_patience));
  }
}

void close_connection(int descriptor, int port, bool reset) {
  const linger now{1, 0};
  if (reset) setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(descriptor);
  await_end(port);
}

int number_behind(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  int number = 0;
  if (at == std::string_view::npos) return 0;
  std::from_chars(text.data() + at + mark.size(), text.data() + text.size(), number);
  return number;
}

}  // namespace billcore::fuzz
