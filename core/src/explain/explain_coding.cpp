// Detects that a body is compressed, or that somebody has unpacked it.
#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "explain/explain.hpp"

namespace billcore::detail {
namespace {

// The compression that the bytes of a body show; "" if they show none.
std::string_view compression_of(std::string_view body) {
  if (body.starts_with("\x1F\x8B")) return "gzip";
  if (body.starts_with("\x28\xB5\x2F\xFD")) return "zstd";
  if (body.size() < 6 || valid_utf8(body)) return "";
  const auto first = static_cast<unsigned char>(body[0]);
  const auto second = static_cast<unsigned char>(body[1]);
  if (first % 16 == 8 && first / 16 < 8 && (first * 256U + second) % 31 == 0) return "deflate";
  return "";
}

// The first content coding that the headers name, as a fixed text, because explain() shows no input.
std::string_view coding_of(HeaderFields headers) {
  constexpr std::array<std::string_view, 5> known{"gzip", "x-gzip", "deflate", "br", "zstd"};
  for (const auto& [name, value] : headers) {
    if (!equal_ignoring_case(name, "content-encoding")) continue;
    for (auto rest = value; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      const auto coding = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (coding.empty() || equal_ignoring_case(coding, "identity")) continue;
      const auto* found =
          std::find_if(known.begin(), known.end(), [&](auto each) { return equal_ignoring_case(coding, each); });
      return found != known.end() ? *found : "another coding";
    }
  }
  return "";
}

}  // namespace

Coding describe_coding(std::string_view body, HeaderFields headers) {
  const auto named = coding_of(headers);
  auto found = compression_of(body);
  if (found.empty() && !valid_utf8(body)) found = named;
  std::string inner;  // API Gateway passes what is not text in base64
  const bool in_base64 = found.empty() && body.size() <= large_body && decode_base64(trim(body), inner);
  if (in_base64) found = compression_of(inner);
  if (!found.empty()) {
    return {true, "body: it looks compressed (" + std::string(found) + (in_base64 ? ", in base64" : "") +
                      "); the signature is over the plain JSON, so decompress it first"};
  }
  if (named.empty()) return {false, ""};
  return {false,
          "body: it is plain, but Content-Encoding says " + std::string(named) +
              ": a proxy has unpacked the body, or the framework has; if the signature is over the packed bytes, "
              "pass those"};
}

}  // namespace billcore::detail
