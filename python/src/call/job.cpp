#include "call/job.hpp"

namespace billcore::python {

std::optional<LostResult> SingleJob::lost(const std::exception_ptr& error) const {
  using detail::Outcome;
  if (!is_write()) return std::nullopt;
  auto out = request_;
  if (error == nullptr) {
    if (answer_ == nullptr || detail::outcome_of_status(answer_->status()) == Outcome::refused) return std::nullopt;
    out.outcome = outcome();
    out.attempts = answer_->attempts();
    out.request_id = answer_->request_id();
    return out;
  }
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    const auto& detail = known.detail();
    const bool done = detail.http_status != 0 && detail::outcome_of_status(detail.http_status) != Outcome::refused;
    if (!done && !detail.outcome_unknown) return std::nullopt;
    const bool says_it = known.code() == ErrorCode::interrupted;
    out.outcome = says_it ? known.message() : detail::interrupted_after_error(known);
    out.attempts = detail.attempts;
    out.request_id = detail.request_id;
  } catch (const std::exception&) {
    out.outcome = result_is_lost;
  }
  return out;
}

}  // namespace billcore::python
