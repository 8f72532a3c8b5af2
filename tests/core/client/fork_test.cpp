// Tests a client with open connections in a process that forks, and in its children.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "support/attempts.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::given_up;
using test::Scene;
using test::Server;

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

// Runs `work` in a forked child, and returns the result of `work`.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

const std::string order = R"({"data":{"id":"o"}})";
bool works(const Client& client) { return client.orders().get("o").id() == Id("o"); }

TEST(Fork, AClientWorksInTheChildAndInTheParent) {
  const Server server([](const std::string&) { return Server::kept(order); });
  const Client client(server.options());
  EXPECT_TRUE(works(client));
  EXPECT_EQ(in_child([&] {
              if (!works(client)) return 1;
              return connections_to(server.port()) > 1 ? 2 : 0;
            }),
            0)
      << "2: the child holds on to the parent's connections";
  EXPECT_TRUE(works(client));
  EXPECT_EQ(server.accepted, 2) << "the parent had to connect again";
}

TEST(Fork, AChildClosesNothingThatIsNotItsClients) {
  const Server server([](const std::string&) { return Server::kept(order); });
  const Client client(server.options());
  EXPECT_TRUE(works(client));
  EXPECT_EQ(in_child([&] {
              // Closes all descriptors, as a daemon does, and reuses their numbers for other files.
              for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
              std::vector<int> others;
              for (int i = 0; i < 100; ++i) others.push_back(open("/dev/null", O_RDONLY));
              if (!works(client)) return 1;
              for (const int other : others) {
                if (fcntl(other, F_GETFD) < 0) return 2;
              }
              return 0;
            }),
            0)
      << "2: one of the program's own descriptors was closed";
}

// The parent's call goes on after the child has cancelled it, and has released the loop.
TEST(Fork, AChildLeavesAndIsToldNothingOfItsParentsCalls) {
  std::atomic<bool> arrived{false};
  std::atomic<bool> forked{false};
  Scene scene([&](const std::string& /*head*/) {
    arrived = true;
    while (!forked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Server::kept(order);
  });
  auto loop = std::make_unique<AsyncClient>(scene.client());
  bool ended = false;
  const auto call = loop->start(test::charge_operation(), {}, [&](Completed& /*completed*/) { ended = true; });
  while (!arrived) loop->process();
  EXPECT_EQ(in_child([&] {
              const bool unknown = loop->cancel(call).outcome_unknown;
              loop.reset();
              return unknown && !ended && scene.told->ends.empty() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(scene.told->ends.empty());
  forked = true;
  while (!ended) loop->process();
  EXPECT_EQ(scene.told->ends, std::vector<std::string>{"POST 1 200 sent"});
}

// If a process forks within a hook or an interrupt callback, the child does not send the parent's request, and hooks in
// the child do not report the end of the parent's request.
TEST(Fork, AForkWithinACallLeavesTheParentsCallAlone) {
  for (const bool in_hook : {true, false}) {
    SCOPED_TRACE(in_hook);
    std::atomic<int> requests{0};
    Scene scene([&](const std::string& /*head*/) {
      ++requests;
      return in_hook ? Server::json(order) : "+";
    });
    bool is_child = false;
    int in_parent = 0;
    const auto fork_once = [&] {
      if (std::exchange(in_parent, 1) != 0) return;
      const pid_t child = fork();
      is_child = child == 0;
      int status = 0;
      if (is_child) return;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(WEXITSTATUS(status), 0);
    };
    if (in_hook) {
      scene.told->at_request = fork_once;
    } else {
      scene.options.interrupt = [&] {
        if (scene.server.asked > 0) fork_once();
        return in_parent != 0 && !is_child;
      };
    }
    const auto client = scene.client();
    try {
      client.subscriptions().charge("s", {.product_id = 1, .amount = 1});
    } catch (const Error& error) {
      const auto wanted = in_hook ? ErrorCode::config : ErrorCode::outcome_unknown;
      if (is_child) _exit(error.code() == wanted && scene.told->ends.empty() ? 0 : 1);
    }
    if (is_child) _exit(2);
    EXPECT_EQ(scene.told->ends, std::vector<std::string>{in_hook ? "POST 1 200 sent" : given_up});
    EXPECT_EQ(requests, 1);
  }
}

}  // namespace
}  // namespace billcore
