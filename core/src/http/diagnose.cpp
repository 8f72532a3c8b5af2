#include "http/diagnose.hpp"

#include <algorithm>
#include <array>

namespace billcore::detail {
namespace {

// libcurl's limit for one header line in HTTP/1. If a header line is over the limit, libcurl reports out of memory;
// from release 8.6 on it reports CURLE_TOO_LARGE.
constexpr std::size_t max_header_line = std::size_t{100} << 10U;
constexpr int curle_too_large = 100;

Failure classify(CURLcode code) noexcept {
  switch (code) {
    case CURLE_OK:
      return Failure::none;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Failure::resolve;
    case CURLE_PROXY:
      return Failure::proxy;
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED:
      return Failure::connect;
    case CURLE_SSL_CONNECT_ERROR:
      return Failure::handshake;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_USE_SSL_FAILED:
      return Failure::tls;
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CLIENTCERT:
      return Failure::certificate;
    case CURLE_OPERATION_TIMEDOUT:
      return Failure::timeout;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return Failure::reset;
    case CURLE_PARTIAL_FILE:
      return Failure::truncated;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
      return Failure::protocol;
    case CURLE_OUT_OF_MEMORY:
      return Failure::memory;
    default:
      return Failure::other;
  }
}

// Whether an error text reports a TLS alert about the client's certificate. In TLS 1.3 an alert about the certificate
// arrives in place of the answer, since by then the client has finished its handshake and sent the request.
bool refuses_certificate(std::string_view reason) noexcept {
  constexpr std::array<std::string_view, 3> words{"certificate", "unknown ca", "access denied"};
  const auto alert = reason.find(" alert ");
  return alert != std::string_view::npos && std::any_of(words.begin(), words.end(), [&](std::string_view word) {
           return reason.find(word, alert) != std::string_view::npos;
         });
}

// Whether libcurl failed because the headers exceed one of its own limits. For HTTP/1 libcurl reports out of memory; if
// it has read more than the longest allowed line, the line was the cause. For HTTP/2 either libcurl's callback fails or
// nghttp2 rejects too many CONTINUATION frames; only libcurl's error text shows these two failures. When the headers
// are too large on a reused connection, libcurl tries to send the request again, which the write guard (before_send()
// in callbacks.cpp) prevents.
bool has_too_large_headers(const Evidence& evidence, const HeadReader& head) noexcept {
  if (!evidence.sent || head.ended() || evidence.code == CURLE_OK) return false;
  if (static_cast<int>(evidence.code) == curle_too_large) return true;
  if (evidence.code == CURLE_OUT_OF_MEMORY) return evidence.read_ahead > max_header_line;
  if (evidence.words.find("Too many CONTINUATION frames") != std::string_view::npos) return true;
  // libcurl's callback also fails for an unknown stream, so check how much libcurl has read. HTTP/2 compresses a
  // header line to no less than 5 bits per byte, so a line over the limit takes at least half as many bytes as the
  // limit.
  return evidence.words.find("callback function failed") != std::string_view::npos &&
         evidence.read_ahead > max_header_line / 2;
}

// Whether libcurl rejected a Content-Length that is not a single number. From about release 8.20 on, libcurl rejects an
// invalid Content-Length before it passes the header line to the client.
bool has_bad_length(const Evidence& evidence) noexcept {
  return evidence.code == CURLE_WEIRD_SERVER_REPLY && evidence.sent &&
         evidence.words.find("Content-Length") != std::string_view::npos;
}

// For an HTTP/2 answer for which libcurl has reported success, checks whether the stream really ended.
Diagnosis by_stream(const Evidence& evidence, const HeadReader& head) {
  if (!head.is_bodyless() && head.length() && *head.length() != evidence.body) {
    return {Failure::truncated, "the HTTP/2 stream ended after " + std::to_string(evidence.body) + " of " +
                                    std::to_string(*head.length()) + " bytes"};
  }
  Diagnosis found;
  if (head.frames_the_body()) return found;
  if (!evidence.stream_ended) return {Failure::truncated, "the HTTP/2 stream was cut before its end"};
  if (evidence.lost) return {Failure::truncated, "the HTTP/2 connection ended with the answer, which has no length"};
  if (!evidence.reports_cuts) found.ending = Ending::unseen;
  return found;
}

// Diagnoses a failure by libcurl's result code and error text only.
Diagnosis by_code(const Evidence& evidence) {
  const auto failure = classify(evidence.code);
  std::string reason(evidence.words.empty() ? curl_easy_strerror(evidence.code) : evidence.words);
  if ((failure == Failure::handshake || failure == Failure::reset) && refuses_certificate(reason)) {
    return {Failure::certificate, std::move(reason)};
  }
  // libcurl's error text contains the proxy's URL with the password, so use another text. See unusable_proxy in
  // proxy.hpp.
  if (reason.starts_with("Unsupported proxy")) {
    return {Failure::proxy,
            "its URL is not valid or not percent-encoded, or this libcurl does not support such a proxy"};
  }
  return {failure, std::move(reason)};
}

}  // namespace

bool breaks_connection(CURLcode code) noexcept {
  return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_HTTP2;
}

Diagnosis diagnose(const Evidence& evidence, const HeadReader& head) {
  const bool failed = evidence.code != CURLE_OK && !(evidence.whole && breaks_connection(evidence.code));
  // Check first for failures that the callbacks in callbacks.cpp caused on purpose.
  if (evidence.body_over_limit) {
    return {Failure::too_large,
            "the answer is over max_response (" + std::to_string(evidence.max_response) + " bytes)"};
  }
  if (evidence.headers_over_limit) {
    return {Failure::protocol, "the headers are over " + std::to_string(max_header_bytes) + " bytes"};
  }
  if (evidence.out_of_memory) return {Failure::memory, "memory ran out"};
  if (has_too_large_headers(evidence, head)) {
    return {Failure::protocol,
            "the headers are over the limits of libcurl, " + std::to_string(max_header_line) + " bytes a line"};
  }
  if (failed && evidence.tunnel_status >= 300) {
    return {Failure::proxy, "the proxy answered " + std::to_string(evidence.tunnel_status)};
  }
  if (evidence.late) return {Failure::timeout, "the request was ready to be sent only after the deadline"};
  if (evidence.unnamed) {
    return {Failure::tls,
            "the certificate has no subject alternative name for a host, and its common name does not count"};
  }
  if (evidence.unheld) {
    return {Failure::other, "the kernel did not accept SO_LINGER for the socket, so the write was not sent"};
  }
  if (evidence.refusal == Failure::http1_required) return {Failure::http1_required, "HTTP_1_1_REQUIRED"};
  // When a request was refused, libcurl connects once more, which may fail for a reason of its own.
  if (evidence.refusal != Failure::none && evidence.code != CURLE_OPERATION_TIMEDOUT) {
    return {Failure::refused, "HTTP/2 stream refused"};
  }
  if (evidence.dead_before_send) return {Failure::reset, "the other side had closed the connection"};
  if (evidence.sent_again) return {Failure::reset, "the connection was lost before an answer arrived", true};
  // libcurl reports status 200 for a status line that it cannot parse.
  if (head.ended() && head.status() != evidence.status) {
    return {Failure::protocol, "the status line is not valid HTTP", false, false};
  }
  if (head.is_contradictory() || has_bad_length(evidence)) {
    return {Failure::truncated, "Content-Length is not a single number, so the end of the answer is unknown"};
  }
  // libcurl 7.88 returns CURLE_BAD_FUNCTION_ARGUMENT for a header line that it cannot store.
  if (evidence.code == CURLE_BAD_FUNCTION_ARGUMENT && evidence.sent) {
    return {Failure::protocol, "a header line is not valid HTTP"};
  }
  if (failed) return by_code(evidence);
  // libcurl reports success after a status line even if the headers are incomplete.
  if (!head.ended()) return {Failure::truncated, "the connection ended within the headers"};
  if (head.is_http2()) return by_stream(evidence, head);
  if (head.is_chunked() && !evidence.body_ended) return {Failure::truncated, "the connection ended within a chunk"};
  Diagnosis whole;
  if (!head.frames_the_body()) whole.ending = Ending::closed;
  return whole;
}

}  // namespace billcore::detail
