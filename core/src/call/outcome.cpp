#include "billcore/detail/outcome.hpp"

#include "call/rules.hpp"

namespace billcore::detail {
namespace {

const char* meaning(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::done:
      return "it was done";
    case Outcome::refused:
      return "it was refused";
    case Outcome::unknown:
      return look_first;
  }
  return look_first;
}

}  // namespace

Outcome outcome_of_status(int status) noexcept { return rule_of(status).outcome; }

std::string interrupted_after_answer(std::string_view subject, int status, const std::optional<Value>& data) {
  constexpr std::size_t longest = 80;
  auto text = std::string(subject) + "interrupted after the answer came: status " + std::to_string(status) + ", " +
              meaning(outcome_of_status(status));
  const auto id = data ? data->find("id") : std::nullopt;
  if (!id) return text;
  const auto shown = id->kind() == Value::Kind::string ? std::string(id->text()) : std::string(id->raw());
  return shown.size() > longest ? text : text + " (id " + shown + ')';
}

std::string interrupted_after_error(const Error& error) {
  const auto& detail = error.detail();
  const auto subject = detail.method + ' ' + detail.path + ": ";
  // A truncated answer also has a status; only the error code outcome_unknown says that the answer was incomplete.
  if (error.code() == ErrorCode::outcome_unknown) return subject + "interrupted after it was sent; " + look_first;
  if (detail.http_status == 0) return subject + "interrupted, and nothing was sent";
  return interrupted_after_answer(subject, detail.http_status);
}

}  // namespace billcore::detail
