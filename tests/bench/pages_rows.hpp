// The rows of the pages tables that are in C and C++: who reads a list of orders, three fields of each.
#pragma once

#include "turns.hpp"

namespace pages {

/// The list of so many pages.
inline std::string list_id(std::size_t count) { return "sub_" + std::to_string(count); }

/// at_once: pages under way at a time; 1 is curl_easy_perform.
turns::Make make_raw;
/// cpp, or, for the price of an item, cpp_pages (none made) and cpp_items (nothing read). at_once: concurrency.
turns::Make make_billcore;

}  // namespace pages
