// A webhook server with libmicrohttpd. Usage: receiver PORT. The server remembers each event before it answers, and
// drops an event that is delivered again. SIGTERM or Ctrl-C ends the server.
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <algorithm>
#include <billcore/webhook.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t max_body = std::size_t{1} << 20U;

using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

// Called only by the server's one thread. With a database, record the event and apply its effect in one transaction.
struct Inbox {
  billcore::Verifier verifier;
  std::set<std::pair<std::int64_t, std::string>> claimed;

  // Records an event; returns false if it was recorded before. Every test.hook has the id 0, so each counts as new.
  bool claim(const billcore::Event& event) {
    if (event.type() == billcore::EventType::test_hook) return true;
    return claimed.emplace(event.account(), event.id().text()).second;
  }

  // Handles one delivery and returns the HTTP status of the answer. After any status but 2xx the service delivers the
  // event again.
  unsigned receive(std::string_view body, const Headers& headers) {
    try {
      const billcore::Event event = verifier.unwrap_request(body, headers);
      event.require_claimable();
      if (claim(event)) std::cout << "received " << event.name() << std::endl;
      return MHD_HTTP_OK;
    } catch (const billcore::Error& error) {
      std::cout << "refused: " << error.what() << std::endl;
      if (error.code() == billcore::ErrorCode::signature) return static_cast<unsigned>(error.detail().http_status);
      return MHD_HTTP_BAD_REQUEST;  // the signature is right, but the body is not an event that can be kept
    }
  }
};

// libmicrohttpd calls add_header, on_request and on_completed, and is written in C, through which no exception may pass.
// With noexcept, an exception that they do not catch (std::bad_alloc) ends the program.
MHD_Result add_header(void* headers, MHD_ValueKind, const char* name, const char* value) noexcept {
  static_cast<Headers*>(headers)->emplace_back(name, value == nullptr ? "" : value);
  return MHD_YES;
}

MHD_Result answer(MHD_Connection* connection, unsigned status) {
  MHD_Response* response = MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

// libmicrohttpd calls on_request after the headers, then for each part of the body, then once more at the end of the
// body.
MHD_Result on_request(void* context, MHD_Connection* connection, const char*, const char* method, const char*,
                      const char* part, std::size_t* part_size, void** state) noexcept {
  if (*state == nullptr) {
    *state = new std::string();
    return MHD_YES;
  }
  auto& body = *static_cast<std::string*>(*state);
  if (*part_size > 0) {
    // One byte over the limit is enough to detect a body that is too large; the server reads and drops the rest.
    body.append(part, std::min(*part_size, max_body + 1 - body.size()));
    *part_size = 0;
    return MHD_YES;
  }
  if (std::string_view(method) != "POST") return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
  if (body.size() > max_body) return answer(connection, MHD_HTTP_CONTENT_TOO_LARGE);
  Headers headers;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, add_header, &headers);
  return answer(connection, static_cast<Inbox*>(context)->receive(body, headers));
}

void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) noexcept {
  delete static_cast<std::string*>(*state);
  *state = nullptr;
}

// While a secret is being replaced, WEBHOOK_SECRET is "new,old".
billcore::Verifier make_verifier(std::string_view text) {
  std::vector<std::string_view> secrets;
  for (const auto secret : std::views::split(text, ',')) secrets.emplace_back(secret.begin(), secret.end());
  return billcore::Verifier(secrets);
}

}  // namespace

int main(int argc, char** argv) try {
  const char* secrets = std::getenv("WEBHOOK_SECRET");
  char* end = nullptr;
  const unsigned long port = argc == 2 ? std::strtoul(argv[1], &end, 10) : 0;
  if (argc != 2 || secrets == nullptr || end == argv[1] || *end != '\0' || port > 65535) {
    std::cerr << "usage: receiver PORT (0: a free one), with WEBHOOK_SECRET set\n";
    return 2;
  }
  Inbox inbox{make_verifier(secrets), {}};
  // Block the signals before the server's thread starts, so that sigwait receives them.
  sigset_t ends;
  int ended_by = 0;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_port = htons(static_cast<std::uint16_t>(port));
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  MHD_Daemon* server =
      MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, nullptr, nullptr, on_request, &inbox, MHD_OPTION_SOCK_ADDR,
                       &loopback, MHD_OPTION_NOTIFY_COMPLETED, on_completed, nullptr, MHD_OPTION_CONNECTION_TIMEOUT,
                       10U /* seconds without a byte */, MHD_OPTION_END);
  if (server == nullptr) {
    std::perror("the port cannot be used");
    return 1;
  }
  const auto bound = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port;
  std::cout << "listening on http://127.0.0.1:" << bound << "/webhooks" << std::endl;
  sigwait(&ends, &ended_by);
  MHD_stop_daemon(server);
} catch (const billcore::Error& error) {
  std::cerr << "WEBHOOK_SECRET: " << error.what() << '\n';
  return 2;
}
