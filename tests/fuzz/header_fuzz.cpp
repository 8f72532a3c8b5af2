// Tests that a verifier accepts a request if, and only if, the signature is the HMAC of the body with one of the
// secrets.
#include <functional>
#include <span>

#include "billcore/webhook.hpp"
#include "request.hpp"
#include "support.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;
using std::chrono::microseconds;

constexpr std::int64_t now = 1'745'566'200'000'000;  // 2025-04-25T07:30:00Z
constexpr microseconds window = std::chrono::minutes(5);

struct Expected {
  SignatureReason reason;
  std::size_t index = 0;
};

// Applies the rules of verification in order, without code of the library.
Expected judge(const Request& request, const std::optional<std::string>& signature, std::size_t max_body) {
  if (request.body.size() > max_body) return {SignatureReason::body_too_large};
  if (!signature) return {SignatureReason::missing};
  if (signature->size() != 64 || signature->find_first_not_of("0123456789abcdef") != std::string::npos) {
    return {SignatureReason::malformed};
  }
  for (std::size_t i = 0; i < request.signatures().size(); ++i) {
    if (request.signatures()[i] == *signature) return {SignatureReason::none, i};
  }
  return {SignatureReason::mismatch};
}

bool is_fresh(std::string_view body) {
  try {
    const auto event = signed_event(body);
    if (event.type() == EventType::test_hook) return true;
    const auto distance = event.created_at().at.time_since_epoch().count() - now;
    return distance <= window.count() && -distance <= window.count();
  } catch (const Error&) {
    return false;
  }
}

bool is_event(std::string_view body) {
  try {
    return signed_event(body).value().is_object();
  } catch (const Error&) {
    return false;
  }
}

Verifier verifier_for(const Request& request) {
  VerifierOptions options;
  options.header = request.header;
  if (request.has(Request::small_body)) options.max_body = 64;
  if (request.has(Request::fresh)) {
    options.freshness = window;
    options.clock = [] { return std::chrono::sys_time<microseconds>(microseconds(now)); };
  }
  const auto secrets = request.secret_views();
  if (request.has(Request::odd_secrets)) return Verifier::allowing_any_key_length(secrets, std::move(options));
  return Verifier(std::span<const std::string_view>(secrets), std::move(options));
}

// Checks the error for a refused request. The error's text must depend only on the reason and the body's size, so that
// the text cannot reveal a secret, the right signature or the payload.
void require_refusal(const Verifier& verifier, const Request& request, const Error& error, SignatureReason reason,
                     bool text_varies) {
  require(error.code() == ErrorCode::signature, "a refusal is Error(signature)");
  require_readable(error);
  require(error.detail().reason == reason, "the reason is the first rule that is broken");
  require(error.detail().http_status == suggested_http_status(reason), "a refusal suggests its HTTP status");
  require(error.detail().body.empty(), "a refusal holds no payload");
  if (reason == SignatureReason::stale || text_varies) return;
  const std::string other(request.body.size(), 'x');
  const auto claimed = reason == SignatureReason::malformed ? std::string("?") : std::string(64, '0');
  try {
    static_cast<void>(verifier.verify(
        other, reason == SignatureReason::missing ? std::nullopt : std::optional<std::string_view>(claimed)));
    require(false, "a wrong signature is refused");
  } catch (const Error& reference) {
    require(reference.message() == error.message(), "a refusal reveals nothing of the body, signature or secrets");
  }
}

/// Runs `accept`, which must throw Error(signature) with the reason in `expected`. If `expected` has no reason,
/// `accept` must return or throw Error(decode).
template <typename Accept>
void require_outcome(const Verifier& verifier, const Request& request, const Expected& expected, Accept accept,
                     bool text_varies = false) {
  try {
    accept();
    require(expected.reason == SignatureReason::none, "only a right signature is accepted");
  } catch (const Error& error) {
    if (expected.reason == SignatureReason::none) {
      require(error.code() == ErrorCode::decode, "a right signature is accepted");
      require_readable(error);
    } else {
      require_refusal(verifier, request, error, expected.reason, text_varies);
    }
  }
}

void stream(const Verifier& verifier, const Request& request, const Expected& expected,
            std::optional<std::string_view> signature) {
  const auto accept = [&] {
    auto stream = verifier.stream();
    auto rest = request.body;
    for (std::size_t piece = 1; !rest.empty(); piece = piece * 3 + request.flags % 5) {
      stream.update(rest.substr(0, piece));
      rest.remove_prefix(std::min(piece, rest.size()));
    }
    require(stream.finish(signature) == expected.index, "a stream finds the same secret");
  };
  // If a stream is too large, the error's text varies, because it contains the number of bytes seen.
  require_outcome(verifier, request, expected, accept, expected.reason == SignatureReason::body_too_large);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Request request(view(data, size));
  const auto verifier = verifier_for(request);
  const auto given = request.signature();
  const auto signature = given ? std::optional<std::string_view>(*given) : std::nullopt;
  auto expected = judge(request, given, verifier.options().max_body);
  const bool right = expected.reason == SignatureReason::none;
  if (right && request.has(Request::fresh) && !is_fresh(request.body)) expected.reason = SignatureReason::stale;
  const bool accepted = expected.reason == SignatureReason::none;

  std::size_t index = 99;
  require(verifier.check(request.body, signature, &index) == expected.reason, "check() follows the rules");
  require(index == (accepted ? expected.index : 99), "the first secret that matches is named");
  require_outcome(verifier, request, expected, [&] {
    const auto verified = verifier.verify(request.body, signature);
    require(verified.body().data() == request.body.data() && verified.body().size() == request.body.size(),
            "verify() borrows the body");
    require(verified.secret_index() == expected.index, "the first secret that matches is named");
  });
  auto parsed = expected;  // a body that is not an event has no age: unwrap() fails to parse it
  if (expected.reason == SignatureReason::stale && !is_event(request.body)) parsed.reason = SignatureReason::none;
  require_outcome(verifier, request, parsed, [&] {
    require(verifier.unwrap(request.body, signature).raw() == request.body, "raw() is the body as received");
    require(accepted, "only a fresh event is accepted");
  });

  std::optional<std::size_t> joined;  // index of a secret that matches only because equal headers count as one
  if (!request.has(Request::without_header)) {
    const std::vector<std::pair<std::string_view, std::string_view>> headers(request.headers.begin(),
                                                                             request.headers.end());
    const auto found = verifier.find_signature(headers);
    const auto one = request.looked_up();
    require(found.has_value() == one.has_value(), "a header is found whatever its case");
    require(!one || *one == "several values" || *one == *found, "equal values, joined or apart, are one");
    auto looked_up = judge(request, one, verifier.options().max_body);
    joined = looked_up.reason == SignatureReason::none && !right ? std::optional(looked_up.index) : std::nullopt;
    if (looked_up.reason == SignatureReason::none && request.has(Request::fresh) && !is_fresh(request.body) &&
        is_event(request.body)) {
      looked_up.reason = SignatureReason::stale;
    }
    require_outcome(verifier, request, looked_up, [&] {
      require(verifier.unwrap_request(request.body, headers).raw() == request.body, "raw() is the body as received");
    });
  }

  if (!request.has(Request::fresh)) stream(verifier, request, expected, signature);
  const auto matches = verifier.matches();
  require(matches.size() == request.secrets.size(), "a count for each secret");
  for (std::size_t i = 0; i < matches.size(); ++i) {
    require((matches[i] != 0) == ((right && i == expected.index) || joined == i), "the secret that matched is counted");
  }
  if (!request.has(Request::odd_secrets)) {
    require(webhooks::sign(request.body, request.secrets.front()) == request.signatures().front(),
            "sign() is the HMAC in hex");
  }
  return 0;
}
