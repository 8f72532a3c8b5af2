// Two tables for statuses and failures: the error, its text, whether the request may be sent again, and the outcome of
// a write. Pure functions; internal.
#pragma once

#include <cstdint>

#include "billcore/detail/outcome.hpp"
#include "billcore/error.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// When a request may be sent again.
enum class Repeat : std::uint8_t {
  never,
  read,             // a read may be sent again, a write never
  unless_received,  // a read may always be sent again; a write only if no part of it was sent
  unless_sent,      // a read or a write may be sent again only if no part of it was sent (see Transfer::sent)
};

struct StatusRule {
  int first;
  int last;
  ErrorCode error;
  Repeat repeat;
  Outcome outcome;  // outcome of a write
  const char* meaning;
};

struct FailureRule {
  Failure failure;
  ErrorCode error;
  Repeat repeat;
  // The text of the error is `before` + reason + `behind`; for Failure::memory only `before`.
  const char* before;
  const char* behind;
};

[[nodiscard]] const StatusRule& rule_of(int status) noexcept;
[[nodiscard]] const FailureRule& rule_of(Failure failure) noexcept;

/// The end of every error message about a write whose outcome is unknown.
inline constexpr const char* look_first = "it may or may not have happened: look before you send it again";

}  // namespace billcore::detail
