#include "request.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "support.hpp"

namespace billcore::fuzz {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string secret_of(unsigned index, bool odd) {
  std::string secret(key);
  secret.back() = static_cast<char>('0' + index);
  constexpr std::array<std::size_t, 4> lengths{200, 1, 65, 64};
  if (!odd) return secret;
  while (secret.size() < lengths.at(index)) secret += secret;
  return secret.substr(secret.size() - lengths.at(index));
}

}  // namespace

Request::Request(std::string_view input) {
  if (!input.empty()) {
    flags = static_cast<unsigned char>(input.front());
    input.remove_prefix(1);
  }
  header = has(other_header) ? "X-Signature" : "Service-Signature";
  for (unsigned i = 0; i <= (flags & count); ++i) {
    secrets.push_back(secret_of(has(equal_secrets) ? 0 : i, has(odd_secrets)));
  }

  std::vector<std::string_view> lines;
  while (!input.empty()) {
    const auto end = std::min(input.find('\n'), input.size());
    const auto line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.empty()) break;
    lines.push_back(line);
  }
  body = input;
  for (const auto& secret : secrets) signatures_.push_back(hmac_hex(body, secret));
  for (const auto line : lines) {
    const auto colon = line.find(": ");
    const auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 2);
    headers.emplace_back(line.substr(0, colon), expanded(value));
  }
}

std::string Request::expanded(std::string_view value) const {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%' || i + 1 == value.size()) {
      out += value[i];
      continue;
    }
    const char what = value[++i];
    const auto signature_by = [this](int index) {
      const auto place = static_cast<std::size_t>(index);
      return place < signatures_.size() ? signatures_[place] : hmac_hex(body, "the secret of somebody else....");
    };
    if (what >= '0' && what <= '3') {
      out += signature_by(what - '0');
    } else if (what >= 'A' && what <= 'D') {
      out += upper(signature_by(what - 'A'));
    } else {
      out += what == 'n' ? '\n' : what == 'r' ? '\r' : what == 'z' ? '\0' : what;
    }
  }
  return out;
}

std::optional<std::string> Request::looked_up() const {
  std::vector<std::string> values;
  for (const auto& [name, value] : headers) {
    if (lower(name) != lower(header)) continue;
    if (value.find(',') == std::string::npos) {
      values.push_back(value);
      continue;
    }
    std::istringstream parts(value + ',');
    for (std::string part; std::getline(parts, part, ',');) {
      const auto begin = part.find_first_not_of(" \t");
      values.push_back(begin == std::string::npos ? "" : part.substr(begin, part.find_last_not_of(" \t") + 1 - begin));
    }
  }
  if (values.empty()) return std::nullopt;
  const bool same =
      std::all_of(values.begin(), values.end(), [&](const auto& value) { return value == values.front(); });
  return same ? values.front() : "several values";
}

std::optional<std::string> Request::signature() const {
  if (has(without_header)) return headers.empty() ? std::nullopt : std::optional(headers.front().second);
  std::vector<std::string> values;
  for (const auto& [name, value] : headers) {
    if (lower(name) == lower(header)) values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  const bool same =
      std::all_of(values.begin(), values.end(), [&](const auto& value) { return value == values.front(); });
  return same ? values.front() : "several values";
}

}  // namespace billcore::fuzz
