// Tests that the bytes read from a connection are counted correctly, although more bytes arrive meanwhile.
#include "http/connections.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

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

TEST(Connections, WhatArrivesMeanwhileIsNotTakenForRead) {
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

}  // namespace
}  // namespace billcore::detail
