#include "http/connections.hpp"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>

namespace billcore::detail {
namespace {

constexpr int most_questions = 100;

// The local port of a socket; 0 while it is not connected.
int port_of(int descriptor) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

// Whether a socket is connected to this IP address.
bool leads_to(int descriptor, std::string_view address) noexcept {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  const void* const bytes = peer.ss_family == AF_INET6
                                ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr)
                                : &reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr;
  return inet_ntop(peer.ss_family, bytes, text.data(), text.size()) != nullptr && address == text.data();
}

// Number of bytes that the kernel has received on a socket; nullopt if the kernel does not report it.
std::optional<std::uint64_t> bytes_received(int descriptor) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  constexpr auto needed = offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received;
  if (size < needed) return std::nullopt;
  return info.tcpi_bytes_received;
}

// Number of received bytes that the process has not read yet.
std::optional<std::uint64_t> bytes_unread(int descriptor) noexcept {
  int count = 0;
  if (ioctl(descriptor, FIONREAD, &count) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(std::max(count, 0));
}

bool poll_now(int descriptor, short events) noexcept {
  pollfd state{descriptor, events, 0};
  return poll(&state, 1, 0) != 0;  // an error of poll() counts as an event, so that the connection is not reused
}

}  // namespace

bool Connection::is_dead() const noexcept { return poll_now(descriptor, POLLRDHUP); }

bool Connection::is_readable() const noexcept { return poll_now(descriptor, POLLIN | POLLRDHUP); }

bool Connection::has_unparsed() const noexcept {
  const auto received = bytes_received(descriptor);
  return !received || *received > parsed;
}

std::uint64_t Connection::read_ahead() const noexcept {
  if (descriptor == closed || was_reset) return ahead;
  // Bytes that arrive between bytes_unread() and bytes_received() would count as read, so repeat both until the number
  // of unread bytes is stable.
  for (int more = most_questions;; --more) {
    const auto unread = bytes_unread(descriptor);
    const auto received = bytes_received(descriptor);
    if (!unread || !received) return 0;
    if (more > 0 && bytes_unread(descriptor) != unread) continue;
    const auto seen = parsed + *unread;
    return *received > seen ? *received - seen : 0;
  }
}

bool Connection::hold(std::optional<std::chrono::milliseconds> left) noexcept {
  constexpr linger reset_on_close{1, 0};
  if (setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset_on_close, sizeof reset_on_close) != 0) return false;
  ++holds;
  int milliseconds = 0;  // no limit; the write before may have left one
  if (left) {
    const auto most = std::int64_t{std::numeric_limits<int>::max()};
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left->count(), 1, most));
  }
  if (left || timed) setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  timed = left.has_value();
  return true;
}

void Connection::release() noexcept {
  if (--holds > 0 || descriptor == closed) return;
  constexpr linger usual{0, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &usual, sizeof usual);
  constexpr int unlimited = 0;  // otherwise the kernel would end the idle connection after the time of this write
  if (timed) setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unlimited, sizeof unlimited);
}

void Connection::reset() noexcept {
  if (descriptor == closed || was_reset) return;
  ahead = read_ahead();
  was_reset = true;
  sockaddr none{};
  none.sa_family = AF_UNSPEC;
  connect(descriptor, &none, sizeof none);
}

// An existing entry with this descriptor is stale: libcurl does not call close_socket() for a socket that never
// connected.
void Connections::add(int descriptor) {
  remove(descriptor);
  auto made = std::make_shared<Connection>();
  made->descriptor = descriptor;
  open_.push_back(std::move(made));
}

void Connections::remove(int descriptor) noexcept {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [descriptor](const auto& each) { return each->descriptor == descriptor; });
  if (found == open_.end()) return;
  // diagnose() needs read_ahead() for a failed transfer, but libcurl closes the connection before it reports the
  // failure.
  if ((*found)->in_flight > 0) (*found)->ahead = (*found)->read_ahead();
  (*found)->descriptor = Connection::closed;
  open_.erase(found);
}

std::shared_ptr<Connection> Connections::find(int local_port, std::string_view address) noexcept {
  std::shared_ptr<Connection> found;
  for (const auto& each : open_) {
    // Look each port up only once: with many connections the system calls would cost more than the request itself.
    if (each->port == 0) each->port = port_of(each->descriptor);
    if (each->port != local_port) continue;
    if (found != nullptr) return find_exactly(local_port, address);
    found = each;
  }
  return found;
}

// Connections to two addresses may share a local port.
std::shared_ptr<Connection> Connections::find_exactly(int local_port, std::string_view address) const noexcept {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const auto& each) {
    return each->port == local_port && leads_to(each->descriptor, address);
  });
  return found == open_.end() ? nullptr : *found;
}

Connection* Connections::find_descriptor(int descriptor) noexcept {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [descriptor](const auto& each) { return each->descriptor == descriptor; });
  return found == open_.end() ? nullptr : found->get();
}

bool Connections::has_retired_in_flight() const noexcept {
  return std::any_of(open_.begin(), open_.end(), [](const auto& each) { return each->retired && each->in_flight > 0; });
}

}  // namespace billcore::detail
