// Makes the C and C++ rows of the rest tables. Each row makes a GET and reads the answer.
#pragma once

#include "turns.hpp"

namespace rest {

inline constexpr std::string_view subscription = "/subscription/sub_1001";
inline constexpr std::string_view id = "sub_1001";

/// name: raw, raw_yyjson or raw_threads. at_once: number of requests in flight; with 1, and with raw_threads in each of
/// its threads, the row uses curl_easy_perform.
turns::Make make_raw;
/// name: cpp or c. at_once: the number of threads.
turns::Make make_billcore;

}  // namespace rest
