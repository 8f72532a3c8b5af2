// The rows of the pages tables that are in C and C++: reading a list of orders, three fields of each.
#pragma once

#include "turns.hpp"

namespace pages {

/// Id of the list with so many pages.
inline std::string list_id(std::size_t count) { return "sub_" + std::to_string(count); }

/// at_once: pages in flight; 1 is curl_easy_perform.
turns::Make make_raw;
/// cpp, c, or, for the cost of an item, cpp_pages (no items made) and cpp_items (no fields read). at_once: concurrency.
turns::Make make_billcore;

}  // namespace pages
