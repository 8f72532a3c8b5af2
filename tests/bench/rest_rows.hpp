// The rows of the rest tables that are in C and C++: a GET and reading its answer.
#pragma once

#include "turns.hpp"

namespace rest {

inline constexpr std::string_view subscription = "/subscription/sub_1001";
inline constexpr std::string_view id = "sub_1001";

/// name: raw or raw_yyjson. at_once: number of requests in flight; 1 is curl_easy_perform.
turns::Make make_raw;
/// name: cpp or c. at_once: threads.
turns::Make make_billcore;

}  // namespace rest
