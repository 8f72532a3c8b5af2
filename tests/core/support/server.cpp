#include "server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

namespace billcore::test {

struct Server::Peer {
  int descriptor;
  std::string received = {};
  bool ended = false;  // the server sends nothing more
};

Server::~Server() {
  stop_ = true;
  listener_.stop();
  thread_.join();
}

ClientOptions Server::options() const {
  ClientOptions options;
  options.base_url = url();
  options.api_key = "key";
  options.max_retries = 0;
  return options;
}

void Server::serve() {
  std::vector<Peer> peers;
  while (!stop_) {
    std::vector<pollfd> waiting{{listener_.descriptor(), POLLIN, 0}};
    for (const auto& peer : peers) waiting.push_back({peer.descriptor, POLLIN, 0});
    poll(waiting.data(), waiting.size(), -1);
    for (std::size_t i = peers.size(); i-- > 0;) {
      if (waiting[i + 1].revents == 0 || converse(peers[i])) continue;
      close(peers[i].descriptor);
      peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(i));
      --open;
    }
    if (waiting[0].revents == 0 || stop_) continue;
    const int descriptor = listener_.accept_one();
    if (descriptor < 0) continue;
    peers.push_back({descriptor});
    ++accepted;
    ++open;
  }
  for (const auto& peer : peers) close(peer.descriptor);
}

// Answers every complete request that has arrived; returns false if the connection is to be closed.
bool Server::converse(Peer& peer) {
  std::array<char, 8192> buffer{};
  const auto size = recv(peer.descriptor, buffer.data(), buffer.size(), 0);
  if (size < 0 && errno == ECONNRESET) ++resets;
  if (size <= 0) return false;
  if (peer.ended) return true;
  auto& text = peer.received.append(buffer.data(), static_cast<std::size_t>(size));
  for (auto end = text.find("\r\n\r\n"); end != std::string::npos && !peer.ended; end = text.find("\r\n\r\n")) {
    std::size_t whole = end + 4;
    if (const auto at = text.find("Content-Length: "); at < end) whole += std::stoul(text.substr(at + 16, 8));
    if (text.size() < whole) break;
    const auto answer = answer_(text.substr(0, end + 4));
    text.erase(0, whole);
    if (!reply(peer, answer)) return false;
  }
  return true;
}

bool Server::reply(Peer& peer, const std::string& text) {
  const bool breaks = text.starts_with('!');
  const bool keeps = text.starts_with('+');
  for (std::size_t at = breaks || keeps ? 1 : 0; at < text.size();) {
    const auto sent = send(peer.descriptor, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) break;
    at += static_cast<std::size_t>(sent);
  }
  if (breaks) {
    const linger at_once{1, 0};
    setsockopt(peer.descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  peer.ended = !keeps;
  if (peer.ended && !breaks) shutdown(peer.descriptor, SHUT_WR);  // closing with unread input would send a reset
  ++asked;
  return !breaks;
}

std::string Server::json(const std::string& body, int status, const std::string& header) {
  return kept(body, status, header + "Connection: close\r\n").substr(1);
}

std::string Server::kept(const std::string& body, int status, const std::string& header) {
  return "+HTTP/1.1 " + std::to_string(status) + " X\r\n" + header +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace billcore::test
