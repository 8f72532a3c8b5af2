#include "h2_peer.hpp"

#include <algorithm>
#include <utility>

#include "door.hpp"

namespace billcore::fuzz {

void H2Peer::open(std::size_t index) {
  auto& connection = at(index);
  connection.agreed = connection.ready = false;
  sessions_.emplace_back().tls = std::make_unique<Tls>(connection.descriptor);
}

bool H2Peer::shake_hands(std::size_t index) {
  auto& tls = *sessions_[index].tls;
  if (tls.shake_hands()) return true;
  await_arrival(at(index).port, tls.sent());
  return false;
}

void H2Peer::settle(int call) {
  for (auto& stream : streams_) stream.settled = stream.settled || stream.request->call == call;
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

const Received* H2Peer::request(std::size_t index) const {
  const auto named = sessions_[index].named;
  return named ? streams_[*named].request : nullptr;
}

// Text that a script sends outside of `%(` and `%[` may belong to any stream, so a token in that text does not name a
// call.
std::string H2Peer::token(std::size_t index) const {
  return token_of(sessions_[index].any_status ? nullptr : request(index));
}

void H2Peer::frame(std::size_t index, const Step& step, std::size_t at_step) {
  const bool inside = at_step < sessions_[index].frame_end;
  if (step.kind == Step::Kind::body && !inside) begin_answer(index, step, at_step);
  if (step.kind == Step::Kind::chunk && !inside) begin_frame(index, step, at_step);
}

void H2Peer::flush(std::size_t index) {
  auto& connection = at(index);
  auto& tls = *sessions_[index].tls;
  if (connection.descriptor < 0 || connection.pending.empty()) return;
  connection.pending.erase(0, tls.write(connection.pending));
  await_arrival(connection.port, tls.sent());
  if (!connection.pending.empty()) return;
  for (auto& stream : streams_) {
    if (stream.connection != index || stream.staged.empty()) continue;
    stream.sent.bytes += std::exchange(stream.staged, {});
    stream.sent.times.emplace_back(stream.sent.bytes.size(), clock_micros());
  }
}

void H2Peer::end_sending(std::size_t index) {
  mark_ended(index);
  sessions_[index].tls->say_end();
}

void H2Peer::end_connection(std::size_t index, bool reset) {
  const auto& connection = at(index);
  if (!connection.pending.empty()) mark_odd(index, false);
  for (auto& stream : streams_) {
    if (stream.connection == index) stream.sent.bytes += std::exchange(stream.staged, {});
  }
  mark_ended(index);
  if (connection.agreed && !reset) sessions_[index].tls->say_end();
}

}  // namespace billcore::fuzz
