// Makes the C and C++ contenders of the rest tables, which make GETs and read the answers.
#pragma once

#include "turns.hpp"

namespace rest {

inline constexpr std::string_view subscription = "/subscription/sub_1001";
inline constexpr std::string_view id = "sub_1001";

/// name: raw, raw_yyjson or raw_threads. at_once: number of requests in flight. curl_easy_perform makes the GETs if
/// at_once is 1, and in each thread of raw_threads.
turns::Make make_raw;
/// name: cpp or c. at_once: the number of threads.
turns::Make make_billcore;

}  // namespace rest
