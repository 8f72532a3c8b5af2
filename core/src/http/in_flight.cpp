#include "http/in_flight.hpp"

namespace billcore::detail {

void InFlight::note_refusal(Failure how) noexcept {
  if (refusal != Failure::none || header_bytes > 0 || !transfer.body.empty()) return;
  refusal = how;
  if (how == Failure::refused) transfer.sent = false;
}

bool InFlight::has_whole_answer() const noexcept {
  if (!head.ended()) return false;
  if (head.is_bodyless() || stream_ended) return true;
  if (head.is_chunked()) return chunks.ended();
  return head.length() == transfer.body.size();
}

}  // namespace billcore::detail
