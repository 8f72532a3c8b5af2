// Makes the C and C++ contenders of the pages tables, which read a list of orders and three fields of each order.
#pragma once

#include "turns.hpp"

namespace pages {

/// Returns the id of the subscription whose list of orders has `count` pages.
inline std::string list_id(std::size_t count) { return "sub_" + std::to_string(count); }

/// at_once: pages in flight; with 1 the contender uses curl_easy_perform.
turns::Make make_raw;
/// name: cpp or c; or, to measure what an item costs, cpp_pages (reads pages, not items) or cpp_items (reads items,
/// but no fields). at_once: pages in flight.
turns::Make make_billcore;

}  // namespace pages
