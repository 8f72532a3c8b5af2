#include "h2_peer.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "door.hpp"

namespace billcore::fuzz {

H2Peer::H2Peer(const std::vector<Script>& scripts, std::string nonce) : scripts_(scripts), nonce_(std::move(nonce)) {
  while (accept_one()) {
  }
  end();
  connections_.clear();
}

H2Peer::~H2Peer() { end(); }

void H2Peer::end() noexcept {
  while (accept_one()) {
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) close(i, true);
}

void H2Peer::settle(int call) {
  for (auto& stream : streams_) stream.settled = stream.settled || stream.request->call == call;
}

bool H2Peer::accept_one() {
  const auto accepted = accept_at_door();
  if (!accepted) return false;
  auto& connection = connections_.emplace_back();
  connection.descriptor = accepted->descriptor;
  connection.port = accepted->port;
  connection.tls = std::make_unique<Tls>(accepted->descriptor);
  connection.script = &scripts_[std::min(connections_.size(), scripts_.size()) - 1];
  return true;
}

void H2Peer::move() {
  while (accept_one()) {
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    auto& connection = connections_[i];
    if (connection.descriptor < 0) continue;
    if (!connection.agreed) connection.agreed = connection.tls->shake_hands();
    if (!connection.agreed) {
      await_arrival(connection.port, connection.tls->sent());
      continue;
    }
    read(i);
    play(i);
  }
}

std::optional<std::int64_t> H2Peer::due() const {
  std::optional<std::int64_t> first;
  for (const auto& connection : connections_) {
    if (connection.descriptor < 0 || !connection.ready || !connection.pending.empty()) continue;
    if (connection.whole < connection.awaited || connection.step >= connection.script->size()) continue;
    first = std::min(first.value_or(connection.until), connection.until);
  }
  return first;
}

std::optional<std::size_t> H2Peer::oldest(std::size_t index) const {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto& stream = streams_[i];
    if (stream.connection == index && !stream.answered && stream.request->whole) return i;
  }
  return newest(index);
}

std::optional<std::size_t> H2Peer::newest(std::size_t index) const {
  for (std::size_t i = streams_.size(); i > 0; --i) {
    if (streams_[i - 1].connection == index) return i - 1;
  }
  return std::nullopt;
}

// Text outside a frame that this peer builds belongs to an unknown stream: its token names no call.
std::string H2Peer::token(std::size_t index) const {
  const auto& connection = connections_[index];
  if (connection.any_status || !connection.named) return token_of(nonce_, 0, 0);
  const auto& request = *streams_[*connection.named].request;
  return token_of(nonce_, request.call, request.page);
}

std::string H2Peer::page(std::size_t index) const {
  const auto& connection = connections_[index];
  return std::to_string(connection.named ? std::max(streams_[*connection.named].request->page, 1) : 1);
}

std::size_t H2Peer::size_of(std::size_t index, std::size_t begin, std::size_t end) const {
  std::size_t size = 0;
  for (auto at = begin; at < end; ++at) {
    const auto& step = (*connections_[index].script)[at];
    if (step.kind == Step::Kind::text) size += step.text.size();
    if (step.kind == Step::Kind::token) size += nonce_.size() + 6;
    if (step.kind == Step::Kind::page) size += page(index).size();
    if (step.kind == Step::Kind::key) size += peer_key.size();
    if (step.kind == Step::Kind::filler) size += static_cast<std::size_t>(step.number);
  }
  return size;
}

bool H2Peer::act(std::size_t index, const Step& step, std::size_t at) {
  auto& connection = connections_[index];
  const bool inside = at < connection.frame_end;
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
      if (!inside) begin_answer(index, step, at);
      return true;
    case Step::Kind::chunk:
      if (!inside) begin_frame(index, step, at);
      return true;
    case Step::Kind::chunk_end:
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
      mark_ended(index);
      connection.tls->say_end();
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

void H2Peer::play(std::size_t index) {
  auto& connection = connections_[index];
  if (!connection.ready) return;
  flush(index);
  const auto& script = *connection.script;
  while (connection.descriptor >= 0 && connection.pending.size() < (std::size_t{1} << 20U) &&
         connection.step < script.size()) {
    if (connection.whole < connection.awaited || clock_micros() < connection.until) break;
    const auto at = connection.step++;
    const bool goes_on = act(index, script[at], at);
    if (connection.frame_end != 0 && connection.step >= connection.frame_end) end_frame(index);
    if (!goes_on) break;
  }
  flush(index);
}

void H2Peer::flush(std::size_t index) {
  auto& connection = connections_[index];
  if (connection.descriptor < 0 || connection.pending.empty()) return;
  connection.pending.erase(0, connection.tls->write(connection.pending));
  await_arrival(connection.port, connection.tls->sent());
  if (!connection.pending.empty()) return;
  for (auto& stream : streams_) {
    if (stream.connection != index || stream.staged.empty()) continue;
    stream.sent.bytes += std::exchange(stream.staged, {});
    stream.sent.times.emplace_back(stream.sent.bytes.size(), clock_micros());
  }
}

void H2Peer::close(std::size_t index, bool reset) {
  auto& connection = connections_[index];
  if (connection.descriptor < 0) return;
  if (connection.agreed) read(index);  // a received request counts, even if it is not answered
  if (!connection.pending.empty()) mark_odd(index, false);
  for (auto& stream : streams_) {
    if (stream.connection == index) stream.sent.bytes += std::exchange(stream.staged, {});
  }
  mark_ended(index);
  if (connection.agreed && !reset) connection.tls->say_end();
  close_connection(std::exchange(connection.descriptor, -1), connection.port, reset);
  connection.pending.clear();
}

}  // namespace billcore::fuzz
