// Decodes the content codings gzip and deflate of a body (RFC 9110, 8.4). Internal.
//
// The client asks for no coding, but a proxy or a CDN in front of the service may compress an answer anyway. billcore
// decodes the body itself, because the end of an answer is found by its encoded bytes, and because libcurl may have
// been built without zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/transfer.hpp"

namespace billcore::detail {

class ContentCoding {
 public:
  /// `head`: the header lines of the answer.
  explicit ContentCoding(std::string_view head);
  ~ContentCoding();
  ContentCoding(const ContentCoding&) = delete;
  ContentCoding& operator=(const ContentCoding&) = delete;

  /// Decodes the next piece of the body and appends the text to `out`. Returns false if `out` would exceed `most`
  /// bytes. Throws std::bad_alloc. If the body cannot be decoded, ignores the rest of it.
  [[nodiscard]] bool take(std::string_view piece, std::string& out, std::size_t most);
  /// Number of encoded bytes so far.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  /// Called at the end of a complete body: if it could not be decoded, clears transfer.body and sets transfer.reason.
  void end(Transfer& transfer) const;

 private:
  class Stage;

  bool feed(std::size_t stage, std::string_view data, std::string& out, std::size_t most);

  std::vector<std::unique_ptr<Stage>> stages_;  // one for each coding, in the order of decoding
  const char* problem_ = nullptr;               // why the body cannot be decoded
  std::uint64_t taken_ = 0;
};

}  // namespace billcore::detail
