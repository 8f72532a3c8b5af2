// A small HTTP server on loopback that passes every POST to a function and answers with the returned status.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "billcore/webhook.hpp"

class Listener {
 public:
  /// The server's thread calls this function for each POST; it returns the HTTP status of the answer.
  using Receive = std::function<unsigned(std::string_view body, billcore::HeaderFields headers)>;

  /// Listens from construction to destruction, on a free port.
  explicit Listener(Receive receive);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The URL of the server, without a path: "http://127.0.0.1:<port>".
  [[nodiscard]] std::string origin() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};
