#include "peer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "door.hpp"

namespace billcore::fuzz {

std::string token_of(std::string_view nonce, int call, int page) {
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "-%02d-%02d", call % 100, page % 100);
  return std::string(nonce) + number.data();
}

// The constructor resets the connections that an earlier input left in the listening socket's queue.
Peer::Peer(const std::vector<Script>& scripts, std::string nonce) : scripts_(scripts), nonce_(std::move(nonce)) {
  while (const auto left = accept_at_door()) close_connection(left->descriptor, left->port, true);
}

void Peer::end() noexcept {
  while (accept_one()) {
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) close(i, true);
}

bool Peer::accept_one() {
  const auto accepted = accept_at_door();
  if (!accepted) return false;
  auto& connection = connections_.emplace_back();
  connection.descriptor = accepted->descriptor;
  connection.port = accepted->port;
  connection.script = &scripts_[std::min(connections_.size(), scripts_.size()) - 1];
  open(connections_.size() - 1);
  return true;
}

void Peer::move() {
  while (accept_one()) {
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    auto& connection = connections_[i];
    if (connection.descriptor < 0) continue;
    if (!connection.agreed) connection.agreed = shake_hands(i);
    if (!connection.agreed) continue;
    read(i);
    play(i);
  }
}

std::optional<std::int64_t> Peer::due() const {
  std::optional<std::int64_t> first;
  for (const auto& connection : connections_) {
    if (connection.descriptor < 0 || !connection.ready || !connection.pending.empty()) continue;
    if (connection.whole < connection.awaited || connection.step >= connection.script->size()) continue;
    first = std::min(first.value_or(connection.until), connection.until);
  }
  return first;
}

std::string Peer::token_of(const Received* request) const {
  return fuzz::token_of(nonce_, request == nullptr ? 0 : request->call, request == nullptr ? 0 : request->page);
}

std::string Peer::page(std::size_t index) const {
  const auto* const answered = request(index);
  return std::to_string(answered == nullptr ? 1 : std::max(answered->page, 1));
}

std::size_t Peer::size_of(std::size_t index, std::size_t begin, std::size_t end) const {
  std::size_t size = 0;
  for (auto at = begin; at < end; ++at) {
    const auto& step = (*connections_[index].script)[at];
    switch (step.kind) {
      case Step::Kind::text:
        size += step.text.size();
        break;
      case Step::Kind::token:
        size += nonce_.size() + 6;
        break;
      case Step::Kind::page:
        size += page(index).size();
        break;
      case Step::Kind::key:
        size += peer_key.size();
        break;
      case Step::Kind::filler:
        size += static_cast<std::size_t>(step.number);
        break;
      case Step::Kind::chunk_end:
        size += around(step, 0).size();
        break;
      case Step::Kind::body:
      case Step::Kind::chunk: {
        const auto inner = size_of(index, at + 1, step.end);
        size += inner + around(step, inner).size();
        at = step.end - 1;
        break;
      }
      default:
        break;
    }
  }
  return size;
}

// Runs one step; returns false if the connection must not run another step in this turn.
bool Peer::act(std::size_t index, const Step& step, std::size_t at) {
  auto& connection = connections_[index];
  switch (step.kind) {
    case Step::Kind::text: {
      const auto left_out = std::min(connection.skip, step.text.size());
      connection.skip -= left_out;
      put(index, std::string_view(step.text).substr(left_out));
      return true;
    }
    case Step::Kind::token:
      put(index, token(index));
      return true;
    case Step::Kind::page:
      put(index, page(index));
      return true;
    case Step::Kind::key:
      put(index, peer_key);
      return true;
    case Step::Kind::filler:
      put(index, std::string(static_cast<std::size_t>(step.number), 'a'));
      return true;
    case Step::Kind::body:
    case Step::Kind::chunk:
    case Step::Kind::chunk_end:
      frame(index, step, at);
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
      flush(index);
      end_sending(index);
      shutdown(connection.descriptor, SHUT_WR);
      await_end(connection.port);
      return true;
    case Step::Kind::close:
    case Step::Kind::reset:
      flush(index);
      close(index, step.kind == Step::Kind::reset);
      return false;
  }
  return false;
}

void Peer::play(std::size_t index) {
  auto& connection = connections_[index];
  if (!connection.ready) return;
  flush(index);
  const auto& script = *connection.script;
  while (connection.descriptor >= 0 && connection.pending.size() < (std::size_t{1} << 20U) &&
         connection.step < script.size()) {
    if (connection.whole < connection.awaited || clock_micros() < connection.until) break;
    const auto at = connection.step++;
    const bool goes_on = act(index, script[at], at);
    step_done(index);
    if (!goes_on) break;
  }
  flush(index);
}

void Peer::close(std::size_t index, bool reset) {
  auto& connection = connections_[index];
  if (connection.descriptor < 0) return;
  if (connection.agreed) read(index);  // records a request that has arrived, although the peer does not answer it
  end_connection(index, reset);
  close_connection(std::exchange(connection.descriptor, -1), connection.port, reset);
  connection.pending.clear();
}

}  // namespace billcore::fuzz
