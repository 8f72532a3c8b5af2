#include "h1_peer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

#include "door.hpp"

namespace billcore::fuzz {

// Parses requests without checks, because the client is trusted to write valid HTTP.
void H1Peer::read(std::size_t index) {
  auto& connection = at(index);
  auto& [last, sent] = streams_[index];
  std::array<char, 16384> room;
  ssize_t got = 0;
  while ((got = recv(connection.descriptor, room.data(), room.size(), 0)) > 0) {
    connection.input.append(room.data(), static_cast<std::size_t>(got));
  }
  while (!connection.input.empty()) {
    if (last == nullptr || last->whole) {
      last = &new_request();
      last->connection = index;
    }
    auto& request = *last;
    const auto end = connection.input.find("\r\n\r\n");
    request.head = connection.input.substr(0, end);
    if (end == std::string::npos) return;
    const auto length = static_cast<std::size_t>(number_behind(request.head, "\r\nContent-Length: "));
    request.body = connection.input.substr(end + 4, length);
    const auto line = std::string_view(request.head).substr(0, request.head.find('\r'));
    request.page = number_behind(line, "page=");
    request.call = std::max(
        {number_behind(line, "/call-"), number_behind(line, "/product/90"), number_behind(request.body, "/call-")});
    if (request.body.size() < length) return;
    connection.input.erase(0, end + 4 + length);
    request.whole = true;
    request.sent_before = sent.bytes.size();
    ++connection.whole;
  }
}

std::string H1Peer::around(const Step& step, std::size_t inner) const {
  if (step.kind == Step::Kind::body) return "Content-Length: " + std::to_string(inner) + "\r\n\r\n";
  if (step.kind == Step::Kind::chunk_end) return "\r\n";
  std::array<char, 32> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", inner);
  return size.data();
}

void H1Peer::frame(std::size_t index, const Step& step, std::size_t at_step) {
  put(index, around(step, size_of(index, at_step + 1, step.end)));
}

// Sends the pending bytes and waits until they have arrived, so that the client finds them at its next read.
void H1Peer::flush(std::size_t index) {
  auto& connection = at(index);
  auto& pending = connection.pending;
  auto& sent = streams_[index].sent;
  if (connection.descriptor < 0 || pending.empty()) return;
  const auto went = sent.ended ? -1 : ::send(connection.descriptor, pending.data(), pending.size(), MSG_NOSIGNAL);
  if (went <= 0) {
    if (sent.ended || errno != EAGAIN) pending.clear();
    return;
  }
  sent.bytes.append(pending, 0, static_cast<std::size_t>(went));
  sent.times.emplace_back(sent.bytes.size(), clock_micros());
  pending.erase(0, static_cast<std::size_t>(went));
  await_arrival(connection.port, sent.bytes.size());
}

}  // namespace billcore::fuzz
