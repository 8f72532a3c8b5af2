#include "http/in_flight.hpp"

namespace billcore::detail {

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

}  // namespace billcore::detail
