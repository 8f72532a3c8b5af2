// A listening socket on loopback, for test servers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace billcore::test {

/// Listens on a free port of an address of loopback until it is destroyed.
class Listener {
 public:
  explicit Listener(const char* at = "127.0.0.1") : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, at, &address.sin_addr);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(descriptor_, any, size) != 0 || listen(descriptor_, 64) != 0 ||
        getsockname(descriptor_, any, &size) != 0) {
      throw std::runtime_error("cannot listen on loopback");
    }
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(descriptor_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  /// Waits for a connection and returns its descriptor; negative after stop().
  [[nodiscard]] int accept_one() const { return accept(descriptor_, nullptr, nullptr); }
  /// Makes the current and all later calls of accept_one() return. Can be called from any thread.
  void stop() const { shutdown(descriptor_, SHUT_RDWR); }

 private:
  int descriptor_;
  int port_ = 0;
};

}  // namespace billcore::test
