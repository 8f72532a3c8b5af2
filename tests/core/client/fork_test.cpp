// Tests a client with open connections in a process that forks, and in its children.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "support/attempts.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::demo;
using test::given_up;
using test::Sandbox;
using test::Scene;

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
    const int others = before - 1;  // the connections of the test's own control client
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
    // Closes all descriptors, as a daemon does, and reuses their numbers for other files.
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

// Runs `work` in a forked child, and returns the result of `work`.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

TEST(Fork, AChildIsToldNothingOfItsParents) {
  Scene scene(test::silent);
  auto loop = std::make_unique<AsyncClient>(scene.client());
  const auto call = loop->start(test::charge_operation(), {}, test::never);
  scene.run_until_asked(*loop);
  EXPECT_EQ(in_child([&] {
              const bool unknown = loop->cancel(call).outcome_unknown;
              loop.reset();
              return unknown && scene.told->ends.empty() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(scene.told->ends.empty());
  loop.reset();
  EXPECT_EQ(scene.told->ends, std::vector<std::string>{given_up});
}

// If a process forks within a hook or an interrupt callback, the child does not send the parent's request, and hooks in
// the child do not report the end of the parent's request.
TEST(Fork, AForkWithinACallLeavesTheParentsCallAlone) {
  for (const bool in_hook : {true, false}) {
    SCOPED_TRACE(in_hook);
    std::atomic<int> requests{0};
    Scene scene([&](const std::string& /*head*/) {
      ++requests;
      return in_hook ? test::ScriptedServer::json(R"({"data":{"id":"o"}})") : "+";
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
