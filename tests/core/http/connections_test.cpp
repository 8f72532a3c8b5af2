// Tests that the bytes read from a connection are counted correctly, although more bytes arrive meanwhile.
#include "http/connections.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace billcore::detail {
namespace {

// Both ends of a TCP connection on loopback.
struct Pair {
  Pair() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const bool open = bind(listener, any, size) == 0 && listen(listener, 1) == 0 &&
                      getsockname(listener, any, &size) == 0 && connect(reader, any, size) == 0;
    EXPECT_TRUE(open);
    writer = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~Pair() {
    close(reader);
    close(writer);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  int reader = socket(AF_INET, SOCK_STREAM, 0);
  int writer = -1;
};

TEST(Connections, BytesThatArriveWhileDiscardingAreNoticed) {
  const Pair pair;
  std::thread sender([&] {
    const std::array<char, 512> bytes{};
    while (send(pair.writer, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  Connection connection;
  connection.descriptor = pair.reader;
  std::array<char, 4096> bytes{};
  std::uint64_t taken = 0;
  std::uint64_t wrong = 0;
  while (taken < (std::uint64_t{64} << 20U)) {
    const auto got = recv(pair.reader, bytes.data(), bytes.size(), 0);
    if (got <= 0) break;
    taken += static_cast<std::uint64_t>(got);
    if (connection.read_ahead() != taken) ++wrong;
  }
  shutdown(pair.writer, SHUT_RDWR);
  sender.join();
  EXPECT_GE(taken, std::uint64_t{64} << 20U);
  EXPECT_EQ(wrong, 0U);
}

// Two connections to different addresses may have the same local port.
TEST(Connections, TheAddressDistinguishesConnectionsWithOnePort) {
  std::array<int, 2> ends{};
  int port = 0;
  std::array<std::string, 2> addresses{"127.0.0.1", "127.0.0.2"};
  std::vector<int> listeners;
  Connections connections;
  for (std::size_t i = 0; i < 2; ++i) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    inet_pton(AF_INET, addresses.at(i).c_str(), &peer.sin_addr);
    socklen_t size = sizeof peer;
    auto* const any = reinterpret_cast<sockaddr*>(&peer);
    listeners.push_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_TRUE(bind(listeners.back(), any, size) == 0 && listen(listeners.back(), 1) == 0 &&
                getsockname(listeners.back(), any, &size) == 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    own.sin_port = htons(static_cast<std::uint16_t>(port));
    auto* const here = reinterpret_cast<sockaddr*>(&own);
    ends.at(i) = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    setsockopt(ends.at(i), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    ASSERT_TRUE(bind(ends.at(i), here, sizeof own) == 0 && connect(ends.at(i), any, size) == 0);
    size = sizeof own;
    ASSERT_EQ(getsockname(ends.at(i), here, &size), 0);
    port = ntohs(own.sin_port);
    connections.add(ends.at(i));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto found = connections.find(port, addresses.at(i));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->descriptor, ends.at(i));
  }
  EXPECT_EQ(connections.find(port, "127.0.0.3"), nullptr);
  for (const int end : ends) close(end);
  for (const int listener : listeners) close(listener);
}

}  // namespace
}  // namespace billcore::detail
