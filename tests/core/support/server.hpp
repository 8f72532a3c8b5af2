// The sandbox as a child process, and a minimal scripted HTTP server, for tests over real sockets.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/json.hpp"
#include "listener.hpp"

namespace billcore::test {

/// Runs `python -m billcore_sandbox`, once per test program, with the Python of $BILLCORE_TEST_PYTHON.
class Sandbox {
 public:
  /// Resets the test program's sandbox to its initial state and returns it.
  static Sandbox& fresh();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  [[nodiscard]] const std::string& base_url() const { return base_url_; }
  [[nodiscard]] const std::string& api_key() const { return api_key_; }
  [[nodiscard]] ClientOptions options() const;
  [[nodiscard]] Client client() const { return Client(options()); }

  [[nodiscard]] Value get(const std::string& route) const;
  Value post(const std::string& route, const std::string& json = "{}") const;
  /// received(): number of requests with this method; an empty method counts all. effects(): number of effects of
  /// this kind.
  [[nodiscard]] int received(std::string_view method) const;
  [[nodiscard]] int effects(std::string_view kind) const;
  void fault(const std::string& json) const { post("/faults", json); }

 private:
  Sandbox();

  pid_t pid_ = -1;
  int output_ = -1;
  std::string base_url_;
  std::string api_key_;
  std::unique_ptr<Client> control_;
};

/// Returns the sandbox's subscription with this reference.
[[nodiscard]] Subscription demo(const Client& client, const std::string& reference);

/// Answers every request with the text that `answer` returns for the request's head; closes the connection after each
/// answer.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<std::string(const std::string& head)> answer);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] int port() const { return listener_.port(); }
  [[nodiscard]] std::string url() const { return listener_.url("/acct"); }

  static std::string json(const std::string& body, int status = 200);

 private:
  void serve();

  std::function<std::string(const std::string&)> answer_;
  Listener listener_;
  std::thread thread_;
};

}  // namespace billcore::test
