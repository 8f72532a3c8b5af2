// Compresses texts, for tests of answers with a content coding.
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>

namespace billcore::test {

enum class Format { gzip = MAX_WBITS + 16, deflate = MAX_WBITS, raw_deflate = -MAX_WBITS };

inline std::string compressed(std::string text, Format format = Format::gzip) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, static_cast<int>(format), 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 failed");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return out;
}

}  // namespace billcore::test
