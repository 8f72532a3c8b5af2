// What a list is made of, and how far it has been read. For the bindings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace billcore::detail {

struct PagerOptions {
  std::int64_t first_page = 1;
  std::int64_t concurrency = 1;                 // pages on their way at once, at least 1
  bool strict = false;                          // read the list a second time, for what the first missed
  std::optional<std::string_view> resume = {};  // a state()
  std::uint64_t list = 0;                       // tells lists apart, so that no state is taken for another list's
  std::string path = {};                        // for errors
};

/// How far a page has been taken. Of use until another page comes.
struct PagerMark {
  std::int64_t fetched = 0;
  std::int64_t taken = 0;
  std::size_t position = 0;
  bool stopped = false;
  friend bool operator==(const PagerMark&, const PagerMark&) = default;
};

/// What became of asking for a page.
enum class Step : std::uint8_t {
  taken,    // a page more has been read
  pending,  // it has been asked for, and has not come
  ended,    // there is none
};

}  // namespace billcore::detail
