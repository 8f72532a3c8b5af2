#include "peer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

#include "door.hpp"

namespace billcore::fuzz {

std::string token_of(std::string_view nonce, int call, int page) {
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "-%02d-%02d", call % 100, page % 100);
  return std::string(nonce) + number.data();
}

int Peer::port() { return door_port(); }

Peer::Peer(const std::vector<Script>& scripts, std::string nonce) : scripts_(scripts), nonce_(std::move(nonce)) {
  while (accept_one()) {
  }
  end();
  connections_.clear();
}

Peer::~Peer() { end(); }

void Peer::end() noexcept {
  while (accept_one()) {
  }
  for (auto& connection : connections_) close(connection, true);
}

bool Peer::accept_one() {
  const auto accepted = accept_at_door();
  if (!accepted) return false;
  auto& connection = connections_.emplace_back();
  connection.descriptor = accepted->descriptor;
  connection.port = accepted->port;
  connection.script = &scripts_[std::min(connections_.size(), scripts_.size()) - 1];
  return true;
}

void Peer::move() {
  while (accept_one()) {
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    auto& connection = connections_[i];
    if (connection.descriptor < 0) continue;
    read(connection, i);
    play(connection);
  }
}

std::optional<std::int64_t> Peer::due() const {
  std::optional<std::int64_t> first;
  for (const auto& connection : connections_) {
    if (connection.descriptor < 0 || !connection.pending.empty() || connection.whole < connection.awaited) continue;
    if (connection.step >= connection.script->size()) continue;
    first = std::min(first.value_or(connection.until), connection.until);
  }
  return first;
}

void Peer::read(Connection& connection, std::size_t index) {
  std::array<char, 16384> room;
  ssize_t got = 0;
  while ((got = recv(connection.descriptor, room.data(), room.size(), 0)) > 0) {
    connection.input.append(room.data(), static_cast<std::size_t>(got));
  }
  parse(connection, index);
}

// The client is trusted to write valid HTTP.
void Peer::parse(Connection& connection, std::size_t index) {
  while (!connection.input.empty()) {
    if (connection.last == nullptr || connection.last->whole) {
      connection.last = &received_.emplace_back();
      connection.last->connection = index;
    }
    auto& request = *connection.last;
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
    request.sent_before = connection.sent.bytes.size();
    ++connection.whole;
  }
}

std::string Peer::token(const Connection& connection) const {
  const auto* const last = connection.last;
  return last == nullptr ? token_of(nonce_, 0, 0) : token_of(nonce_, last->call, last->page);
}

std::size_t Peer::size_of(const Connection& connection, std::size_t begin, std::size_t end) const {
  std::size_t size = 0;
  for (auto at = begin; at < end; ++at) {
    const auto& step = (*connection.script)[at];
    switch (step.kind) {
      case Step::Kind::text:
        size += step.text.size();
        break;
      case Step::Kind::token:
        size += nonce_.size() + 6;
        break;
      case Step::Kind::page:
        size += std::to_string(connection.last == nullptr ? 1 : std::max(connection.last->page, 1)).size();
        break;
      case Step::Kind::key:
        size += peer_key.size();
        break;
      case Step::Kind::filler:
        size += static_cast<std::size_t>(step.number);
        break;
      case Step::Kind::chunk_end:
        size += 2;
        break;
      case Step::Kind::body:
      case Step::Kind::chunk: {
        const auto inner = size_of(connection, at + 1, step.end);
        std::array<char, 64> text{};
        const char* const format = step.kind == Step::Kind::body ? "Content-Length: %zu\r\n\r\n" : "%zx\r\n";
        size += inner + static_cast<std::size_t>(std::snprintf(text.data(), text.size(), format, inner));
        at = step.end - 1;
        break;
      }
      default:
        break;
    }
  }
  return size;
}

// Runs one step; false when the connection does nothing more in this turn.
bool Peer::act(Connection& connection, const Step& step) {
  const auto at = static_cast<std::size_t>(&step - connection.script->data());
  auto& out = connection.pending;
  switch (step.kind) {
    case Step::Kind::text:
      out += step.text;
      return true;
    case Step::Kind::token:
      out += token(connection);
      return true;
    case Step::Kind::page:
      out += std::to_string(connection.last == nullptr ? 1 : std::max(connection.last->page, 1));
      return true;
    case Step::Kind::key:
      out += peer_key;
      return true;
    case Step::Kind::filler:
      out.append(static_cast<std::size_t>(step.number), 'a');
      return true;
    case Step::Kind::body:
      out += "Content-Length: " + std::to_string(size_of(connection, at + 1, step.end)) + "\r\n\r\n";
      return true;
    case Step::Kind::chunk: {
      std::array<char, 32> size{};
      std::snprintf(size.data(), size.size(), "%zx\r\n", size_of(connection, at + 1, step.end));
      out += size.data();
      return true;
    }
    case Step::Kind::chunk_end:
      out += "\r\n";
      return true;
    case Step::Kind::request:
      ++connection.awaited;
      return true;
    case Step::Kind::piece:
      connection.until = clock_micros();
      return false;
    case Step::Kind::pause:
      connection.until = clock_micros() + step.number;
      return false;
    case Step::Kind::finish:
      flush(connection);
      shutdown(connection.descriptor, SHUT_WR);
      connection.sent.ended = true;
      await_end(connection.port);
      return true;
    case Step::Kind::close:
    case Step::Kind::reset:
      flush(connection);
      close(connection, step.kind == Step::Kind::reset);
      return false;
  }
  return false;
}

void Peer::play(Connection& connection) {
  flush(connection);
  const auto& script = *connection.script;
  while (connection.descriptor >= 0 && connection.pending.size() < (std::size_t{1} << 20U) &&
         connection.step < script.size()) {
    if (connection.whole < connection.awaited || clock_micros() < connection.until) break;
    if (!act(connection, script[connection.step++])) break;
  }
  flush(connection);
}

// Waits until the sent bytes have arrived, so that the client sees them when it looks.
void Peer::flush(Connection& connection) {
  auto& pending = connection.pending;
  if (connection.descriptor < 0 || pending.empty()) return;
  const auto went =
      connection.sent.ended ? -1 : ::send(connection.descriptor, pending.data(), pending.size(), MSG_NOSIGNAL);
  if (went <= 0) {
    if (connection.sent.ended || errno != EAGAIN) pending.clear();
    return;
  }
  connection.sent.bytes.append(pending, 0, static_cast<std::size_t>(went));
  connection.sent.times.emplace_back(connection.sent.bytes.size(), clock_micros());
  pending.erase(0, static_cast<std::size_t>(went));
  await_arrival(connection.port, connection.sent.bytes.size());
}

void Peer::close(Connection& connection, bool reset) {
  if (connection.descriptor < 0) return;
  const auto index = static_cast<std::size_t>(
      std::find_if(connections_.begin(), connections_.end(), [&](const auto& each) { return &each == &connection; }) -
      connections_.begin());
  read(connection, index);  // a received request counts, even if it is not answered
  close_connection(std::exchange(connection.descriptor, -1), connection.port, reset);
  connection.sent.ended = true;
  connection.pending.clear();
}

}  // namespace billcore::fuzz
