#include "json/json_style.hpp"

#include <utility>

#include "base/encoding.hpp"

namespace billcore::detail {
namespace {

using Spacing = JsonStyle::Spacing;
using NonAscii = JsonStyle::NonAscii;

class Writer {
 public:
  Writer(JsonStyle style, std::size_t limit) : style_(style), limit_(limit) {}

  /// Returns false if the result is longer than the limit.
  bool write(std::string_view compact) {
    for (std::size_t i = 0; i < compact.size() && out_.size() <= limit_;) {
      const char c = compact[i];
      if (c == '"') {
        i = string(compact, i);
        continue;
      }
      const bool empty = i + 1 < compact.size() && (compact[i + 1] == '}' || compact[i + 1] == ']');
      if ((c == '{' || c == '[') && empty) {
        out_.append(compact, i, 2);
        i += 2;
        continue;
      }
      structure(c);
      ++i;
    }
    return out_.size() <= limit_;
  }

  std::string take() { return std::move(out_); }

 private:
  void structure(char c) {
    if (c == '}' || c == ']') {
      --depth_;
      line();
    }
    out_ += c;
    if (c == '{' || c == '[') {
      ++depth_;
      line();
    } else if (c == ',') {
      if (style_.spacing == Spacing::spaced) out_ += ' ';
      line();
    } else if (c == ':' && style_.spacing != Spacing::compact) {
      out_ += ' ';
    }
  }

  void line() {
    if (style_.spacing == Spacing::compact || style_.spacing == Spacing::spaced) return;
    out_ += '\n';
    out_.append(depth_ * (style_.spacing == Spacing::indent2 ? 2 : 4), ' ');
  }

  // Writes the string that begins at `at` and returns the position after it. Expects only the escapes that compact_json
  // writes.
  std::size_t string(std::string_view text, std::size_t at) {
    out_ += '"';
    for (++at; at < text.size() && text[at] != '"';) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (text[at] == '\\' && text[at + 1] == 'u') {  // a control character, escaped in every style
        std::uint32_t unit = 0;
        for (std::size_t i = 2; i < 6; ++i) unit = unit << 4U | static_cast<std::uint32_t>(hex_value(text[at + i]));
        escape(unit);
        at += 6;
      } else if (text[at] == '\\') {
        out_.append(text, at, 2);
        at += 2;
      } else if (text[at] == '/' && style_.escaped_slashes) {
        out_ += "\\/";
        ++at;
      } else if (byte >= 0x80 && style_.non_ascii != NonAscii::raw) {
        at = escape_utf8(text, at);
      } else {
        out_ += text[at++];
      }
    }
    out_ += '"';
    return at + 1;
  }

  std::size_t escape_utf8(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    std::uint32_t point = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) point = point << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    if (point >= 0x10000) {
      escape(0xD800 + ((point - 0x10000) >> 10U));
      escape(0xDC00 + ((point - 0x10000) & 0x3FFU));
    } else {
      escape(point);
    }
    return at + length;
  }

  void escape(std::uint32_t unit) {
    const auto digits = style_.non_ascii == NonAscii::upper_escapes ? upper_hex_digits : hex_digits;
    out_ += "\\u";
    for (unsigned shift = 16; shift > 0; shift -= 4) out_ += digits[unit >> (shift - 4) & 15U];
  }

  JsonStyle style_;
  std::size_t limit_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

const std::array<JsonStyle, 24>& json_styles() noexcept {
  static constexpr auto styles = [] {
    std::array<JsonStyle, 24> all{};
    std::size_t count = 0;
    for (const auto spacing : {Spacing::compact, Spacing::spaced, Spacing::indent2, Spacing::indent4}) {
      for (const auto non_ascii : {NonAscii::lower_escapes, NonAscii::upper_escapes, NonAscii::raw}) {
        for (const bool slashes : {true, false}) all.at(count++) = {spacing, non_ascii, slashes};
      }
    }
    return all;
  }();
  return styles;
}

std::optional<std::string> restyle_json(std::string_view compact, JsonStyle style, std::size_t limit) {
  Writer writer(style, limit);
  if (!writer.write(compact)) return std::nullopt;
  return writer.take();
}

std::string describe(JsonStyle style) {
  static constexpr std::array<const char*, 4> spacings{"without spaces", "with a space after \",\" and \":\"",
                                                       "indented by 2", "indented by 4"};
  static constexpr std::array<const char*, 3> escapes{"non-ASCII as \\uxxxx", "non-ASCII as \\uXXXX",
                                                      "non-ASCII as it is"};
  return std::string(spacings.at(static_cast<std::size_t>(style.spacing))) + ", " +
         escapes.at(static_cast<std::size_t>(style.non_ascii)) + ", \"/\" " +
         (style.escaped_slashes ? "as \"\\/\"" : "as it is");
}

}  // namespace billcore::detail
