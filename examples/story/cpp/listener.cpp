#include "listener.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t max_body = std::size_t{1} << 20U;

using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

MHD_Result add_header(void* headers, MHD_ValueKind, const char* name, const char* value) {
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
                      const char* part, std::size_t* part_size, void** state) {
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
  unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;
  try {
    Headers headers;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, add_header, &headers);
    status = (*static_cast<Listener::Receive*>(context))(body, headers);
  } catch (const std::exception&) {
    // The exception must not propagate into libmicrohttpd, which is C code. The answer is 500, so the service
    // delivers the event again.
  }
  return answer(connection, status);
}

void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
  delete static_cast<std::string*>(*state);
  *state = nullptr;
}

}  // namespace

struct Listener::Server {
  Receive receive;
  MHD_Daemon* daemon = nullptr;
};

Listener::Listener(Receive receive) : server_(std::make_unique<Server>(Server{std::move(receive), nullptr})) {
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server_->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, nullptr, nullptr, on_request, &server_->receive,
                                     MHD_OPTION_SOCK_ADDR, &loopback, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
                                     nullptr, MHD_OPTION_END);
  if (server_->daemon == nullptr) throw std::runtime_error("the listener could not be started");
}

Listener::~Listener() { MHD_stop_daemon(server_->daemon); }

std::string Listener::origin() const {
  const auto* info = MHD_get_daemon_info(server_->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return "http://127.0.0.1:" + std::to_string(info->port);
}
