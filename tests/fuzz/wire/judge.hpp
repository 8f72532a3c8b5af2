// The test oracle of the target `wire`: checks the result of a call against what the peer received and sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "billcore/error.hpp"
#include "ledger.hpp"

namespace billcore::fuzz {

/// A call and its result.
struct Call {
  int number = 0;
  char kind = 'g';  // the character of the operation in script.hpp
  bool write = false;
  bool told_to_end = false;  // the option `interrupt` or cancel() told the call to end
  int max_retries = 0;
  std::size_t max_response = 0;
  std::int64_t timeout = 0;  // microseconds
  std::int64_t begin = 0;    // clock time of the start
  std::int64_t end = 0;
  std::uint64_t waits = 0;
  std::optional<Error> error;  // nullopt: the call succeeded
  int status = 0;              // HTTP status, if the call succeeded
  std::string result;          // all data that a successful call returned
};

/// A page of a list, as the client returned it.
struct GivenPage {
  std::int64_t number = 0;
  std::string text;
};

/// Requires that the result of a call agrees with what the peer received and sent. pages: the pages that a list
/// returned.
void judge(const Call& call, const Witness& peer, const std::string& nonce, const std::vector<GivenPage>& pages);
/// Requires that the client did not reuse a connection on which the peer had sent bytes after the end of an answer.
void judge_connections(const Witness& peer);

}  // namespace billcore::fuzz
