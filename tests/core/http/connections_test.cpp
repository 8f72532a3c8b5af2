// Tests that the bytes read from a connection are counted correctly, although more bytes arrive meanwhile.
#include "http/connections.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

#include "support/listener.hpp"

namespace billcore::detail {
namespace {

using test::Listener;

// Connects to a port of an address, from `own_port` (0: any); returns the descriptor.
int connected(const char* address, int port, std::uint16_t own_port = 0) {
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, address, &peer.sin_addr);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  own.sin_port = htons(own_port);
  setsockopt(out, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  EXPECT_EQ(bind(out, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  EXPECT_EQ(connect(out, reinterpret_cast<sockaddr*>(&peer), sizeof peer), 0);
  return out;
}

TEST(Connections, BytesThatArriveWhileDiscardingAreNoticed) {
  const Listener listener;
  Connection connection;
  connection.descriptor = connected("127.0.0.1", listener.port());
  const int writer = listener.accept_one();
  std::thread sender([&] {
    const std::array<char, 512> bytes{};
    while (send(writer, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  std::array<char, 4096> bytes{};
  std::uint64_t taken = 0;
  std::uint64_t wrong = 0;
  while (taken < (std::uint64_t{64} << 20U)) {
    const auto got = recv(connection.descriptor, bytes.data(), bytes.size(), 0);
    if (got <= 0) break;
    taken += static_cast<std::uint64_t>(got);
    if (connection.read_ahead() != taken) ++wrong;
  }
  shutdown(writer, SHUT_RDWR);
  sender.join();
  close(writer);
  close(connection.descriptor);
  EXPECT_GE(taken, std::uint64_t{64} << 20U);
  EXPECT_EQ(wrong, 0U);
}

// Two connections to different addresses may have the same local port.
TEST(Connections, TheAddressDistinguishesConnectionsWithOnePort) {
  const Listener one("127.0.0.1");
  const Listener other("127.0.0.2");
  const int first = connected("127.0.0.1", one.port());
  sockaddr_in own{};
  socklen_t size = sizeof own;
  ASSERT_EQ(getsockname(first, reinterpret_cast<sockaddr*>(&own), &size), 0);
  const int port = ntohs(own.sin_port);
  const int second = connected("127.0.0.2", other.port(), static_cast<std::uint16_t>(port));
  Connections connections;
  connections.add(first);
  connections.add(second);
  EXPECT_EQ(connections.find(port, "127.0.0.1")->descriptor, first);
  EXPECT_EQ(connections.find(port, "127.0.0.2")->descriptor, second);
  EXPECT_EQ(connections.find(port, "127.0.0.3"), nullptr);
  close(first);
  close(second);
}

}  // namespace
}  // namespace billcore::detail
