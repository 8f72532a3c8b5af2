#include "call/rules.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "call/status_table.hpp"

namespace billcore::detail {
namespace {

constexpr std::array failures{
    FailureRule{Failure::none, ErrorCode::connection, Repeat::never, "", ""},
    FailureRule{Failure::resolve, ErrorCode::connection, Repeat::unless_sent, "the host name was not found (",
                "): check base_url, proxy and DNS"},
    FailureRule{Failure::connect, ErrorCode::connection, Repeat::unless_sent, "no connection (",
                "): check base_url and proxy, and that the service is reachable"},
    FailureRule{Failure::handshake, ErrorCode::tls, Repeat::unless_sent, "the TLS handshake broke off (",
                "): check that base_url is an https address, that the service offers TLS 1.2, and whether it wants a "
                "client_certificate"},
    // Do not retry: the service would present the same certificate again.
    FailureRule{Failure::tls, ErrorCode::tls, Repeat::never, "TLS failed (",
                "): check the host name and the certificate, or pass ca_bundle"},
    FailureRule{Failure::certificate, ErrorCode::tls, Repeat::never,
                "the client certificate is missing or was not accepted (",
                "): pass client_certificate, a PEM file with a certificate that the service knows and its key"},
    // Do not retry: the deadline applies to the whole call, so no time is left for another attempt.
    FailureRule{Failure::timeout, ErrorCode::timeout, Repeat::never, "no complete answer within the time-out (",
                "): raise timeout if the service is known to be slow"},
    FailureRule{Failure::reset, ErrorCode::connection, Repeat::unless_received, "the connection broke (", ")"},
    FailureRule{Failure::truncated, ErrorCode::connection, Repeat::unless_received, "the answer is incomplete (", ")"},
    FailureRule{Failure::too_large, ErrorCode::decode, Repeat::never, "",
                ": raise max_response if such answers are expected"},
    FailureRule{Failure::protocol, ErrorCode::connection, Repeat::never, "the answer is not HTTP as expected (",
                "): check base_url"},
    FailureRule{Failure::proxy, ErrorCode::connection, Repeat::never, "the proxy did not connect (",
                "): check proxy, its user name and password, and what it allows"},
    FailureRule{Failure::refused, ErrorCode::connection, Repeat::unless_sent,
                "the service did not process the request (", ")"},
    FailureRule{Failure::http1_required, ErrorCode::connection, Repeat::unless_received, "the service refuses HTTP/2 (",
                "): the next call uses HTTP/1.1"},
    FailureRule{Failure::memory, ErrorCode::out_of_memory, Repeat::never, "memory ran out while the answer was read",
                ""},
    FailureRule{Failure::other, ErrorCode::transport, Repeat::never, "the transfer failed (", ")"},
};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (static_cast<std::size_t>(failures.at(i).failure) != i) return false;
  }
  return static_cast<std::size_t>(Failure::other) + 1 == failures.size();
}
static_assert(are_in_order(), "each Failure has its row");

}  // namespace

const StatusRule& rule_of(int status) noexcept {
  return *std::find_if(status_table.begin(), status_table.end(),
                       [status](const StatusRule& row) { return status >= row.first && status <= row.last; });
}

const FailureRule& rule_of(Failure failure) noexcept { return failures[static_cast<std::size_t>(failure)]; }

}  // namespace billcore::detail
