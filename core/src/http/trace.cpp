#include "http/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "http/handles.hpp"

namespace billcore::detail {
namespace {

// Prints header lines, each with the prefix `mark`; hides the API key.
void print_headers(const char* mark, std::string_view lines) {
  while (!lines.empty()) {
    auto line = lines.substr(0, lines.find_first_of("\r\n"));
    lines.remove_prefix(line.size());
    lines.remove_prefix(std::min(lines.find_first_not_of("\r\n"), lines.size()));
    const bool is_key = equal_ignoring_case(line.substr(0, line.find(':')), "x-api-key");
    const std::string shown(is_key ? "X-API-KEY: (hidden)" : line);
    std::fprintf(stderr, "%s %s\n", mark, shown.c_str());
  }
}

int print(CURL* /*easy*/, curl_infotype type, char* data, std::size_t size, void* /*context*/) {
  const std::string_view text(data, size);
  switch (type) {
    case CURLINFO_TEXT:
      std::fprintf(stderr, "* %.*s", static_cast<int>(size), data);
      break;
    case CURLINFO_HEADER_OUT:
      print_headers(">", text);
      break;
    case CURLINFO_HEADER_IN:
      print_headers("<", text);
      break;
    case CURLINFO_DATA_OUT:
      std::fprintf(stderr, "> (%zu bytes)\n", size);
      break;
    case CURLINFO_DATA_IN:
      std::fprintf(stderr, "< (%zu bytes)\n", size);
      break;
    default:
      break;
  }
  return 0;
}

}  // namespace

void trace_if_asked(CURL* easy) {
  if (std::getenv("BILLCORE_TRACE") == nullptr) return;
  set(easy, CURLOPT_DEBUGFUNCTION, print);
  set(easy, CURLOPT_VERBOSE, 1L);
}

}  // namespace billcore::detail
