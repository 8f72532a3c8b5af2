// How a client reaches the service.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "billcore/hooks.hpp"

namespace billcore {

/// As a timeout: the call has no deadline.
inline constexpr auto no_timeout = std::chrono::milliseconds::max();

struct ClientOptions {
  /// Address of the service up to and including the account segment, with or without a slash at its end; empty: the
  /// environment variable BILLCORE_BASE_URL. https, or http on loopback.
  std::string base_url = {};
  /// Empty: the environment variable BILLCORE_API_KEY. Never shown in any text.
  std::string api_key = {};
  /// One budget for a whole call: DNS, connect, TLS, all attempts and the waits between them; or no_timeout.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  /// Further attempts of a call, where one is safe: of a GET when no connection came about, the answer broke off, or its
  /// status is 408, 429 or 5xx; of a write only when nothing of it was sent. 0: exactly one send, whatever happens.
  int max_retries = 2;
  /// Pages of a list on their way at once, at least 1; after a 429 fewer.
  int concurrency = 8;
  /// URL of a proxy, such as http://user:password@proxy.example:3128 (http, https, socks4, socks4a, socks5, socks5h);
  /// empty: none. Not given: what the environment says (HTTPS_PROXY, ALL_PROXY, NO_PROXY), but never for a base_url on
  /// loopback. With https the API key and the requests go through the proxy's tunnel, it does not see them.
  std::optional<std::string> proxy = {};
  /// File of PEM certificates to trust. Not given: $SSL_CERT_FILE or $SSL_CERT_DIR, else the system's.
  std::optional<std::string> ca_bundle = {};
  /// File of PEM with a certificate, those above it, and its key without a password: shown to a service that asks for one.
  std::optional<std::string> client_certificate = {};
  /// Sent with every request besides the client's own; a User-Agent is put behind the client's.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Offer HTTP/2. Not given: where the libcurl in use ends a call in time although the other side floods it with small
  /// frames; that of Debian 12 does not. true: always; false: never.
  std::optional<bool> http2 = {};
  /// Allow http to hosts that are not loopback: the API key travels in the clear.
  bool allow_insecure_http = false;
  /// Header of an answer whose value errors and response_info() show as the request id.
  std::string request_id_header = "X-Request-Id";
  /// Larger answers are refused (bytes).
  std::size_t max_response = std::size_t{64} << 20U;
  /// Asked at least every 50 ms while a call waits, on the calling thread; true ends the call with Error(interrupted).
  /// A call whose answer comes first returns as usual. Of a write the error says what is known: detail().http_status is
  /// that of an answer that came while it was asked (0: none), message() what it means, outcome_unknown whether the write
  /// may have happened. It may throw, which ends the call, too.
  std::function<bool()> interrupt = {};
  /// Told of every attempt; see hooks.hpp.
  std::shared_ptr<Hooks> hooks = {};
};

/// What a client made by Client::with_options() has differently. What is not given stays.
struct ClientChanges {
  std::optional<std::chrono::milliseconds> timeout = {};  // or no_timeout
  std::optional<int> max_retries = {};
  std::optional<int> concurrency = {};
  std::optional<std::vector<std::pair<std::string, std::string>>> headers = {};  // instead of all that were given
};

/// What a single call may set differently from its client.
struct CallOptions {
  /// Instead of the client's (per page, for lists); or no_timeout.
  std::optional<std::chrono::milliseconds> timeout = {};
  /// Instead of the client's.
  std::shared_ptr<Hooks> hooks = {};
};

}  // namespace billcore
