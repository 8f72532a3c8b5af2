// Reconstructs the texts that a body may have been before a framework or proxy changed it.
#include <algorithm>

#include "base/encoding.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "explain/explain.hpp"
#include "json/json_style.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string replace(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::min(text.find(what, at), text.size());
    out.append(text, at, found - at);
    if (found < text.size()) out += with;
    at = found + what.size();
  }
  return out;
}

/// The text of a JSON string; nullopt for anything else.
std::optional<std::string> string_of(std::string json) {
  try {
    const auto document = Document::parse(SharedText::own(std::move(json)));
    if (kind(document->root()) == Value::Kind::string) return std::string(text(document->root()));
  } catch (const Error&) {
  }
  return std::nullopt;
}

/// The member `body` of a JSON object, if it is a string: AWS Lambda events have the request's body in the member
/// `body`.
std::optional<std::string> body_member(std::string_view json) {
  if (json.find("\"body\"") == std::string_view::npos) return std::nullopt;
  try {
    const auto document = Document::parse(SharedText::own(std::string(json)));
    const Node* body = member(document->root(), "body");
    if (body != nullptr && kind(body) == Value::Kind::string) return std::string(text(body));
  } catch (const Error&) {
  }
  return std::nullopt;
}

class BodyReader {
 public:
  BodyReader(std::string_view given, const BodyVisitor& visit) : given_(given), visit_(visit) {}

  bool run() { return changes() || ends() || styles() || layers(); }

 private:
  // Visits the text that the body was before the change `what`. Returns false if the change leaves the body as it is.
  bool show(std::string_view body, const std::string& what) {
    return body != given_ && visit_(body, Faults{"body: " + what});
  }

  bool changes() {
    if (given_.starts_with(byte_order_mark)) {
      if (show(given_.substr(3), "a byte order mark was put in front of it; pass the bytes as received")) return true;
    } else if (show(std::string(byte_order_mark) + std::string(given_),
                    "its byte order mark was removed; pass the bytes as received")) {
      return true;
    }
    const auto lf = replace(given_, "\r\n", "\n");
    return show(lf, "its line ends were changed from LF to CRLF; read it as bytes, not as text") ||
           show(replace(lf, "\n", "\r\n"), "its line ends were changed from CRLF to LF; read it as bytes, not as text");
  }

  bool ends() {
    constexpr const char* added = "a line end was added at its end; pass the bytes as received";
    constexpr const char* removed = "its final line end was removed; pass the bytes as received";
    if (given_.ends_with('\n') && show(given_.substr(0, given_.size() - 1), added)) return true;
    if (given_.ends_with("\r\n") && show(given_.substr(0, given_.size() - 2), added)) return true;
    if (show(std::string(given_) + '\n', removed) || show(std::string(given_) + "\r\n", removed)) return true;
    return show(trim(given_), "white space was put around it; pass the bytes as received");
  }

  // Visits the same JSON in the formats of other JSON writers.
  bool styles() {
    std::string problem;
    if (given_.size() > large_body) return false;
    const auto compact = compact_json(given_, problem);
    if (!compact) return false;
    for (const auto style : json_styles()) {
      const auto written = restyle_json(*compact, style, 4 * large_body);
      if (written && show(*written, "it was parsed and written again; what was signed is the same JSON " +
                                        describe(style) + "; pass the bytes as received, before anything parses them"))
        return true;
    }
    return false;
  }

  // Visits bodies found by removing one layer of encoding or wrapping.
  bool layers() {
    if (std::string inner;
        decode_base64(trim(given_), inner) &&
        show(inner, "it is still in base64 (as API Gateway passes it: isBase64Encoded); decode it first")) {
      return true;
    }
    const auto text = trim(given_);
    if (const auto inner = text.starts_with('"') ? string_of(std::string(text)) : std::nullopt;
        inner &&
        show(*inner, "it is a JSON string that holds the JSON: it was encoded twice; pass the bytes as received"))
      return true;
    if (const auto inner = text.starts_with('{') ? body_member(text) : std::nullopt) {
      if (show(*inner, "it is a whole request event; pass its member \"body\"")) return true;
      if (std::string decoded;
          decode_base64(*inner, decoded) &&
          show(decoded, "it is a whole request event; pass its member \"body\", decoded from base64")) {
        return true;
      }
    }
    return percent(text);
  }

  bool percent(std::string_view text) {
    constexpr const char* form = "it is form-encoded; the service sends plain JSON: keep the framework from parsing it";
    if (text.find('%') == std::string_view::npos) return false;
    const auto mark = text.find('=');
    const auto value = mark != std::string_view::npos && text.find_first_of("%{") > mark ? text.substr(mark + 1) : text;
    for (const bool plus : {true, false}) {
      // A form parser treats JSON without "=" as a field name and appends a "=".
      for (const auto part : {value, value.substr(0, value.size() - (value.ends_with('=') ? 1 : 0))}) {
        if (std::string inner; decode_percent(part, plus, inner) && show(inner, form)) return true;
      }
    }
    return false;
  }

  std::string_view given_;
  const BodyVisitor& visit_;
};

}  // namespace

bool visit_bodies(std::string_view body, const BodyVisitor& visit) { return BodyReader(body, visit).run(); }

Faults describe_body(std::string_view body, HeaderFields headers) {
  Faults out;
  std::string problem;
  if (body.empty()) {
    out.emplace_back("body: it is empty; was it read before? Take the raw bytes once, and before any body parser");
    return out;
  }
  auto [compressed, fault] = describe_coding(body, headers);
  if (!fault.empty()) out.push_back(std::move(fault));
  if (body.size() > large_body) {
    out.emplace_back(
        "body: it is over 1 MiB, so a verifier with the default max_body refuses it; other JSON styles were not tried");
    return out;
  }
  if (compressed) return out;
  if (!valid_utf8(body)) {
    out.emplace_back("body: it is not valid UTF-8, which the service sends; was it converted to another encoding?");
  } else if (body.find("\xEF\xBF\xBD") != std::string_view::npos) {
    out.emplace_back(
        "body: it contains U+FFFD, which a text decoder substitutes for invalid bytes; read it as bytes, not as text");
  }
  const auto compact = compact_json(body, problem);
  if (!compact) {
    out.emplace_back("body: it does not parse as JSON; was it truncated, or changed in transit?");
  } else if (restyle_json(*compact, service_style, 4 * large_body) != body) {
    out.emplace_back(
        "body: it is not written as the service writes JSON; if it was parsed and written again, the order of members "
        "or the digits of numbers may also have changed");
  }
  return out;
}

}  // namespace billcore::detail
