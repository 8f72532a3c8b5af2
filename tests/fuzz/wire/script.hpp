// An input of the target `wire` describes the client's calls, and what a hostile peer sends. The format is text, so
// that people can write seeds.
//
// The first line (up to LF) has calls and settings, one character each:
//   g get  c charge  x cancel  u update  d delete  w register a webhook  l read a list
//   q, Q a raw GET, a raw POST: the client returns an answer of any status
//   0…7 sets the time-out of the calls that follow to 25 ms × 2^digit   r toggles retries
//   i interrupts the next call   m runs the peer's scripts before the next call   p, P lets a second, a minute pass
//   s makes max_response small for all calls
//   a toggles the event loop, which runs consecutive calls concurrently, up to the next character that is not a call
// After the first line, scripts follow, separated by NUL: one for each connection, the last one for all later
// connections. A script is the text that the peer sends, except for the following escape sequences:
//   %w wait for a complete request   %n send the text so far, then pause for a turn   %0…%9 wait 10 ms × 2^digit
//   %f end sending   %c close   %r reset   %b, %B one KiB, 64 KiB of filler   %k the API key   %p the requested page
//   %i a token that names the latest request   %( … %) a body, with its Content-Length and the empty line before it
//   %[ … %] a chunk   %% a percent sign
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::fuzz {

struct Step {
  enum class Kind : std::uint8_t {
    text,
    token,
    page,
    key,
    filler,  // `number` bytes of filler
    body,
    chunk,
    chunk_end,
    request,  // wait for a complete request
    piece,
    pause,  // wait for `number` microseconds
    finish,
    close,
    reset,
  };
  Kind kind;
  std::string text = {};
  std::int64_t number = 0;
  std::size_t end = 0;  // for a body or chunk: the index of the step after its end
};

using Script = std::vector<Step>;

struct Plan {
  std::string calls;
  std::vector<Script> scripts;

  explicit Plan(std::string_view input);
};

}  // namespace billcore::fuzz
