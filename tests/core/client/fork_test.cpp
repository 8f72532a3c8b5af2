// A client with open connections, and processes forked from it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "billcore/client.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::demo;
using test::Sandbox;

// Number of connections of this process to a TCP port.
int connections_to(int port) {
  int count = 0;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.sin_family == AF_INET &&
        ntohs(peer.sin_port) == port) {
      ++count;
    }
  }
  return count;
}

TEST(Client, WorksInAForkedChildAndInItsParent) {
  auto& sandbox = Sandbox::fresh();
  const auto& url = sandbox.base_url();
  const int port = std::stoi(url.substr(url.find(':', 6) + 1));
  const auto client = sandbox.client();
  const auto id = demo(client, "demo-active").id();
  const int before = connections_to(port);
  ASSERT_GT(before, 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool good = client.subscriptions().get(id).id() == id;
    const int others = before - 1;  // connections of the test's own control client
    _exit(!good ? 1 : connections_to(port) > others + 1 ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "2: the child holds on to the parent's connections";
  EXPECT_EQ(client.subscriptions().get(id).id(), id);
  EXPECT_EQ(connections_to(port), before) << "the parent had to connect again";
}

TEST(Client, AForkedChildClosesNothingThatIsNotItsClients) {
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo(client, "demo-active").id();
  const pid_t child = fork();
  if (child == 0) {
    // Like a daemon: close all descriptors and reuse their numbers for other files.
    for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
    std::vector<int> others;
    for (int i = 0; i < 100; ++i) others.push_back(open("/dev/null", O_RDONLY));
    const bool good = client.subscriptions().get(id).id() == id;
    bool all_open = true;
    for (const int other : others) all_open = all_open && fcntl(other, F_GETFD) >= 0;
    _exit(!good ? 1 : all_open ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "2: one of the program's own descriptors was closed";
}

}  // namespace
}  // namespace billcore
