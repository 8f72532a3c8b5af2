// Options and read position of a list. For the bindings.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace billcore::detail {

struct PagerOptions {
  std::int64_t first_page = 1;
  std::int64_t concurrency = 1;                 // maximum number of pages in flight, at least 1
  bool strict = false;                          // read the list twice, to find records that the first pass missed
  std::optional<std::string_view> resume = {};  // result of state() of an earlier list
  std::uint64_t list = 0;                       // fingerprint of the list, so that a state of another list is rejected
  std::string path = {};                        // for error messages
  std::optional<std::chrono::milliseconds> total_timeout = {};
};

/// Read position within the current page. Valid until the next page is read.
struct PagerMark {
  std::int64_t fetched = 0;
  std::int64_t taken = 0;
  std::size_t position = 0;
  bool stopped = false;
  friend bool operator==(const PagerMark&, const PagerMark&) = default;
};

/// Result of requesting a page.
enum class Step : std::uint8_t {
  taken,    // the next page has been read
  pending,  // the next page is requested but not received yet
  ended,    // there are no more pages
};

}  // namespace billcore::detail
