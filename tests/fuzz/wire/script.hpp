// An input of the target `wire` describes the client's calls, and what a hostile peer does. The format is text, so that
// people can write seeds.
//
// The first line (up to LF) has calls and settings, one character each:
//   g get  c charge  x cancel  u update  d delete  w register a webhook  l read a list
//   q, Q a GET, a POST, whose status is not checked
//   0…7 time-out of the calls that follow: 25 ms × 2^digit   r toggles retries
//   i the next call is interrupted   m the peer runs its script before the next call   p, P a second, a minute passes
//   s small max_response
//   a toggles the event loop; in it, consecutive calls run concurrently, up to the next character that is not a call
// After the first line, scripts follow, separated by NUL, one for each connection; the last script is for all later
// connections. A script is what the peer sends, with these sequences:
//   %w wait for a complete request   %n the end of a piece   %0…%9 wait 10 ms × 2^digit
//   %f end sending   %c close   %r reset   %b, %B one KiB, 64 KiB of filler   %k the API key   %p the requested page
//   %i a text that names the last received request   %( … %) Content-Length, the empty line, and that many bytes
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
  std::size_t end = 0;  // for a body or chunk: the index of the first step after it
};

using Script = std::vector<Step>;

struct Plan {
  std::string calls;
  std::vector<Script> scripts;

  explicit Plan(std::string_view input);
};

}  // namespace billcore::fuzz
