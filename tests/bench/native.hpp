// Makes the contenders of turns-native: for each area, functions that make a Row from the name of a contender.
#pragma once

#include "turns.hpp"

/// GETs and charges of one subscription. at_once: number of requests in flight.
namespace rest {

inline constexpr std::string_view subscription = "/subscription/sub_1001";
inline constexpr std::string_view id = "sub_1001";
inline constexpr int product_id = 102;  // what a charge is for
inline constexpr int amount = 1500;     // of a charge

/// name: raw, raw_yyjson, raw_threads or raw_charge. curl_easy_perform makes the requests if at_once is 1, in each thread
/// of raw_threads, and in raw_charge, which makes one at a time.
turns::Make make_raw;
/// name: cpp, c, c_loop (a loop of the C ABI, only with at_once 1), cpp_many (get_many() on one thread) or cpp_charge.
/// at_once: the number of threads, and with cpp_many of calls in flight.
turns::Make make_billcore;

}  // namespace rest

/// Lists of orders, of which the contenders read three fields. at_once: pages in flight.
namespace pages {

/// Returns the id of the subscription whose list of orders has `count` pages.
inline std::string list_id(std::size_t count) { return "sub_" + std::to_string(count); }

/// With at_once 1 the contender uses curl_easy_perform.
turns::Make make_raw;
/// name: cpp or c.
turns::Make make_billcore;

}  // namespace pages

/// Operations on one delivery.
namespace webhook {

/// name: limit, cpp, cpp_shared or c.
turns::Make make;

}  // namespace webhook
