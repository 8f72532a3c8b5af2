// A server on loopback whose answers a test defines, for tests over real sockets.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "billcore/options.hpp"
#include "listener.hpp"

namespace billcore::test {

/// Answers each request with the text that `answer` returns for the request's head. One thread serves all connections,
/// so `answer` is never called twice at once. The server closes a connection after its answer, unless the text begins
/// with '+': then it sends the rest and keeps the connection, for further requests or an answer that never ends. If the
/// text begins with '!', it sends the rest and resets the connection.
class Server {
 public:
  using Answer = std::function<std::string(const std::string& head)>;
  explicit Server(Answer answer) : answer_(std::move(answer)), thread_([this] { serve(); }) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const { return listener_.port(); }
  [[nodiscard]] std::string url() const { return listener_.url("/acct"); }
  /// Options of a client of this server that does not retry.
  [[nodiscard]] ClientOptions options() const;

  static std::string json(const std::string& body, int status = 200, const std::string& header = "");
  /// The same answer on a connection that is kept.
  static std::string kept(const std::string& body, int status = 200, const std::string& header = "");

  std::atomic<int> asked{0};     // requests that were answered
  std::atomic<int> accepted{0};  // connections
  std::atomic<int> open{0};
  std::atomic<int> resets{0};  // connections that the client has reset

 private:
  struct Peer;
  void serve();
  bool converse(Peer& peer);
  bool reply(Peer& peer, const std::string& text);

  Answer answer_;
  Listener listener_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace billcore::test
