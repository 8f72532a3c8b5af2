#include "http/in_flight.hpp"

#include <utility>

namespace billcore::detail {

void InFlight::clear() noexcept {
  static_cast<RequestMarks&>(*this) = {};
  error[0] = '\0';
  request.body.reset();
  transfer = {};
  head.clear();
  chunks = {};
  coding.reset();
  connection.reset();
  done = nullptr;
}

void InFlight::note_refusal(Failure how) noexcept {
  if (refusal != Failure::none || header_bytes > 0 || !transfer.body.empty()) return;
  refusal = how;
  if (how == Failure::refused) transfer.sent = false;
}

std::uint64_t InFlight::body_bytes() const noexcept {
  return coding != nullptr ? coding->taken() : transfer.body.size();
}

bool InFlight::has_whole_answer() const noexcept {
  if (!head.ended()) return false;
  if (head.is_bodyless() || stream_ended) return true;
  if (head.is_chunked()) return chunks.ended();
  return head.length() == body_bytes();
}

// libcurl may send the next request over the connection of a write whose answer it has read, but not reported. The end
// of the write that was answered must then leave the next one alone.
void InFlight::settle() noexcept {
  if (!std::exchange(holds, false)) return;
  if (answered || has_whole_answer()) {
    connection->release();
  } else {
    connection->reset();
  }
}

}  // namespace billcore::detail
