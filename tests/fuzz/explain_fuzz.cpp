// Tests that explain() returns, for any input, a few lines that show neither a secret nor the right signature.
#include <algorithm>
#include <cctype>

#include "billcore/webhook.hpp"
#include "request.hpp"
#include "support.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

bool has_part_of(const std::string& text, std::string_view secret) {
  constexpr std::size_t part = 8;
  for (std::size_t i = 0; i + part <= secret.size(); ++i) {
    if (text.find(secret.substr(i, part)) != std::string::npos) return true;
  }
  return false;
}

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4U];
    out += digits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

std::string lower(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Returns a text that a user may paste by mistake in place of the secret. explain() must not show that text either.
std::string pasted(const std::string& secret, unsigned how) {
  switch (how % 6) {
    case 1:
      return ' ' + secret + "\r\n";
    case 2:
      return hex_of(secret);
    case 3:
      return "whsec_" + secret;
    case 4:
      return '"' + secret + '"';
    case 5:
      return {};
    default:
      return secret;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Request request(view(data, size));
  // explain() ignores freshness and the body limit, so here the flags of these two options select how the user has
  // pasted the secrets wrongly.
  const unsigned how = (request.flags >> 2U & 1U) | (request.flags >> 4U & 6U);
  std::vector<std::string> secrets;
  for (const auto& secret : request.secrets) secrets.push_back(pasted(secret, how));
  const std::vector<std::string_view> given(secrets.begin(), secrets.end());
  const auto signature = request.signature();

  const auto text =
      webhooks::explain(request.body, signature ? std::optional<std::string_view>(*signature) : std::nullopt, given);
  require(!text.empty() && text.size() < 4000, "an explanation is a few lines");
  require(std::count(text.begin(), text.end(), '\n') <= 20, "an explanation is a few lines");
  require(is_utf8(text), "an explanation is UTF-8");
  for (const char c : text) require(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F), "it is text");
  const auto folded = lower(text);
  for (std::size_t i = 0; i < request.secrets.size(); ++i) {
    require(!has_part_of(text, request.secrets[i]), "an explanation shows no part of a secret");
    require(!has_part_of(folded, hex_of(request.secrets[i])), "an explanation shows no secret in hex");
    require(folded.find(request.signatures()[i].substr(0, 16)) == std::string::npos,
            "an explanation does not show the right signature");
    require(folded.find(hmac_hex(request.body, secrets[i]).substr(0, 16)) == std::string::npos,
            "an explanation does not show a signature by what was pasted");
  }
  return 0;
}
