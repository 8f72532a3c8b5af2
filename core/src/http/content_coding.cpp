#include "http/content_coding.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/text.hpp"
#include "billcore/detail/libraries.hpp"
#include "http/body_room.hpp"
#include "http/head.hpp"

namespace billcore::detail {

LinkedLibrary linked_compression() { return {"zlib", zlibVersion()}; }

namespace {

constexpr std::size_t most_codings = 4;  // a head may name thousands of codings, and each needs 50 KB
// How much longer than `most` the encoded form of a body may be: an incompressible body grows a little. Without this
// limit a body that decodes to nothing could go on for ever.
constexpr std::size_t overhead = std::size_t{64} << 10U;
constexpr char first_byte_of_gzip = '\x1f';

bool is_over(std::uint64_t bytes, std::size_t most) noexcept { return bytes > most && bytes - most > overhead; }

// The codings that a head names, in the order in which they were applied to the body.
std::vector<std::string_view> codings_of(std::string_view head) {
  std::vector<std::string_view> out;
  for (const auto header : {content_coding_name, transfer_coding_name}) {
    for_each_header(head, [&](std::string_view name, std::string_view value) {
      if (!equal_ignoring_case(name, header)) return false;
      for_each_element(value, [&](std::string_view coding) {
        if (coding.empty() || equal_ignoring_case(coding, "identity")) return;
        if (header == transfer_coding_name && equal_ignoring_case(coding, "chunked")) return;
        out.push_back(coding);
      });
      return false;
    });
  }
  return out;
}

bool is_gzip(std::string_view coding) noexcept {
  return equal_ignoring_case(coding, "gzip") || equal_ignoring_case(coding, "x-gzip");
}

}  // namespace

// Decodes one coding.
class ContentCoding::Stage {
 public:
  explicit Stage(bool gzip) : gzip_(gzip) {}
  ~Stage() {
    if (state_ != State::unused) inflateEnd(&stream_);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Decodes the beginning of `data` and removes it from `data`. The result is valid until the next call; it is empty
  // if no text is left.
  std::string_view next(std::string_view& data);

  [[nodiscard]] bool is_corrupt() const noexcept { return state_ == State::corrupt; }
  [[nodiscard]] bool is_cut() const noexcept { return state_ == State::inside; }
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }  // bytes of text so far

 private:
  enum class State : std::uint8_t { unused, inside, ended, ignoring, corrupt };

  void begin(char first);
  int step(std::string_view& data);

  z_stream stream_{};
  std::array<Bytef, std::size_t{16} << 10U> room_{};
  const bool gzip_;
  State state_ = State::unused;
  std::uint64_t made_ = 0;
};

// deflate is the zlib format, but some servers send it without zlib's header. No compressor begins such a body with
// the low four bits of that header (8): they would mean a block that is stored, with a bit set in its padding.
void ContentCoding::Stage::begin(char first) {
  constexpr int with_gzip = 16;
  const bool with_header = (static_cast<unsigned char>(first) & 0x0FU) == Z_DEFLATED;
  const int window = gzip_ ? MAX_WBITS + with_gzip : with_header ? MAX_WBITS : -MAX_WBITS;
  if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  state_ = State::inside;
}

int ContentCoding::Stage::step(std::string_view& data) {
  stream_.next_in = reinterpret_cast<const Bytef*>(data.data());
  stream_.avail_in = static_cast<uInt>(data.size());
  stream_.next_out = room_.data();
  stream_.avail_out = static_cast<uInt>(room_.size());
  const int result = inflate(&stream_, Z_NO_FLUSH);
  data.remove_prefix(data.size() - stream_.avail_in);
  return result;
}

std::string_view ContentCoding::Stage::next(std::string_view& data) {
  while (true) {
    if (data.empty() && state_ != State::inside) return {};
    // A gzip body may consist of several members. Any other bytes after the end are ignored, as gzip itself does: the
    // checksum has proved that the text is complete.
    if (state_ == State::ended) {
      const bool member = gzip_ && data.front() == first_byte_of_gzip;
      if (member) inflateReset(&stream_);
      state_ = member ? State::inside : State::ignoring;
    }
    if (state_ == State::ignoring || state_ == State::corrupt) {
      data = {};
      return {};
    }
    if (state_ == State::unused) begin(data.front());
    const int result = step(data);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_STREAM_END) {
      state_ = State::ended;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {  // Z_BUF_ERROR: inflate() needs more data
      state_ = State::corrupt;
    }
    const auto size = room_.size() - stream_.avail_out;
    made_ += size;
    if (size > 0) return {reinterpret_cast<const char*>(room_.data()), size};
    if (data.empty()) return {};
  }
}

ContentCoding::ContentCoding(std::string_view head) {
  auto codings = codings_of(head);
  std::reverse(codings.begin(), codings.end());
  if (codings.size() > most_codings) {
    problem_ = "consists of too many";
    return;
  }
  for (const auto coding : codings) {
    const bool gzip = is_gzip(coding);
    if (!gzip && !equal_ignoring_case(coding, "deflate")) problem_ = "is neither gzip nor deflate";
    stages_.push_back(std::make_unique<Stage>(gzip));
  }
}

ContentCoding::~ContentCoding() = default;

bool ContentCoding::take(std::string_view piece, std::string& out, std::size_t most) {
  taken_ += piece.size();
  if (is_over(taken_, most)) return false;
  return problem_ != nullptr || feed(0, piece, out, most);
}

// Decodes with the stages from `stage` on. The text between two stages is limited like the encoded body, because it
// may be a thousand times as long.
bool ContentCoding::feed(std::size_t stage, std::string_view data, std::string& out, std::size_t most) {
  if (stage == stages_.size()) {
    if (data.size() > most - out.size()) return false;
    make_room(out, data.size(), most);
    out.append(data);
    return true;
  }
  Stage& coding = *stages_[stage];
  for (auto text = coding.next(data); !text.empty(); text = coding.next(data)) {
    if (is_over(coding.made(), most) || !feed(stage + 1, text, out, most)) return false;
  }
  if (coding.is_corrupt()) problem_ = "is corrupt";
  return true;
}

void ContentCoding::end(Transfer& transfer) const {
  if (taken_ == 0) return;
  const char* problem = problem_;
  if (problem == nullptr) {
    if (std::none_of(stages_.begin(), stages_.end(), [](const auto& stage) { return stage->is_cut(); })) return;
    problem = "breaks off";
    transfer.ending = Ending::cut;
  }
  transfer.body = {};
  transfer.reason = std::string("its body cannot be read, because its content coding ") + problem;
  const char* before = ": ";
  for (const auto coding : codings_of(transfer.head))
    transfer.reason.append(std::exchange(before, ", ")).append(coding);
}

}  // namespace billcore::detail
