#include "http/callbacks.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "http/body_room.hpp"
#include "http/diagnose.hpp"
#include "http/streams.hpp"
#include "http/tls_layer.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t large_piece = std::size_t{8} << 10U;       // a first piece of this size suggests a large body
constexpr std::size_t longest_reserve = std::size_t{16} << 20U;  // maximum memory to reserve for a body of any size

Instant now_utc() noexcept { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

curl_socket_t open_socket(void* context, curlsocktype, curl_sockaddr* address) noexcept {
  auto& flight = *static_cast<InFlight*>(context);
  const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (made < 0) return CURL_SOCKET_BAD;
  try {
    flight.engine.connections.add(made);
  } catch (...) {
    flight.out_of_memory = true;
    close(made);
    return CURL_SOCKET_BAD;
  }
  flight.opened = true;
  flight.engine.descriptors->add(made);
  return made;
}

// libcurl closes a connection also when a transfer has failed or timed out, before it reports the failure.
void settle_writes(const Engine::Impl& engine, int closed) noexcept {
  for (const auto& flight : engine.in_flight) {
    if (flight->connection == nullptr || flight->connection->descriptor != closed) continue;
    flight->settle();
  }
}

int close_socket(void* context, curl_socket_t closed) noexcept {
  auto& engine = *static_cast<Engine::Impl*>(context);
  settle_writes(engine, closed);
  if (engine.readiness != nullptr) engine.readiness->forget(closed);
  engine.connections.remove(closed);
  engine.descriptors->remove(closed);
  return close(closed);
}

// Whether another request may be sent over a kept connection. HTTP/1 does not number answers, so bytes that arrive
// between this check and the next request are taken for the answer to that request.
bool is_usable(const InFlight& flight, const Connection& connection) noexcept {
  if (connection.retired) return false;
  if (connection.is_multiplexed()) return !connection.is_dead();
  return !connection.opaque && !connection.is_readable() && !holds_bytes(flight.easy.get());
}

// Checks the names in the server's certificate once for each connection; returns false if the connection must not be
// used.
bool is_named(InFlight& flight, Connection* connection) noexcept {
  if (connection != nullptr && connection->named) return true;
  const auto naming = naming_of_peer(flight.easy.get());
  flight.unnamed = naming == Naming::missing;
  flight.out_of_memory = naming == Naming::out_of_memory;
  if (connection != nullptr) connection->named = naming == Naming::good;
  return naming == Naming::good;
}

// libcurl wants to send a request again, over another connection.
int before_second_send(InFlight& flight) noexcept {
  ++flight.sends;
  // Usually libcurl changes the protocol because the service has refused HTTP/2. With streams.cpp this is certain.
  if (!sees_streams && flight.connection != nullptr && flight.connection->http2 &&
      !has_negotiated_http2(flight.easy.get())) {
    flight.note_refusal(Failure::http1_required);
  }
  return flight.guarded ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

// Makes sure that a write does not reach the service after the client has given it up.
bool hold(InFlight& flight, Connection* connection) noexcept {
  std::optional<std::chrono::milliseconds> left;
  if (const auto& deadline = flight.request.deadline) {
    left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - SteadyClock::now());
  }
  flight.unheld = connection == nullptr || !connection->hold(left);
  if (flight.unheld) return false;
  flight.leaving = left.has_value();
  flight.engine.sending = flight.engine.sending || flight.leaving;
  // From now on the engine applies the deadline, because libcurl's time-out ends a transfer without reading what has
  // arrived.
  if (left) flight.end_timeout();
  return true;
}

// libcurl calls this function when a connection is ready, just before libcurl sends the request.
int before_send(void* context, char* address, char*, int, int local_port) noexcept {
  auto& flight = *static_cast<InFlight*>(context);
  if (flight.sends > 0) return before_second_send(flight);
  auto connection = flight.engine.connections.find(local_port, address);
  if (!flight.opened && (connection == nullptr || !is_usable(flight, *connection))) {
    flight.transfer.dead_before_send = true;
    flight.forbid_reuse();  // so that libcurl does not choose this connection again
    return CURL_PREREQFUNC_ABORT;
  }
  if (!is_named(flight, connection.get())) {
    flight.forbid_reuse();
    return CURL_PREREQFUNC_ABORT;
  }
  if (flight.request.write && !hold(flight, connection.get())) return CURL_PREREQFUNC_ABORT;
  // Check the deadline once more: after libcurl checked it, the process or the whole machine may have been suspended.
  // (libcurl's clock does not count the time during which the machine is suspended.)
  const auto now = SteadyClock::now();
  if (const auto& deadline = flight.request.deadline; deadline && now >= *deadline) {
    flight.late = true;
    if (flight.request.write) connection->release();
    return CURL_PREREQFUNC_ABORT;
  }
  flight.sends = 1;
  flight.transfer.sent = true;
  flight.transfer.sent_at = {now_utc(), now};
  if (connection != nullptr) {
    if (connection->in_flight == 0 && !connection->known) learn(flight, *connection);
    if (connection->opaque && !connection->http2) flight.forbid_reuse();
    ++connection->in_flight;
    flight.news_before = connection->news;
    flight.connection = std::move(connection);
    flight.holds = flight.request.write;
  }
  return CURL_PREREQFUNC_OK;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* context) noexcept try {
  auto& flight = *static_cast<InFlight*>(context);
  const std::string_view line(data, size * count);
  flight.note_news(line.size());
  flight.header_bytes += line.size();
  if (flight.header_bytes > max_header_bytes) {
    flight.headers_over_limit = true;
    return 0;
  }
  auto& head = flight.head;
  const bool was_ended = head.ended();
  head.take(line);
  if (was_ended || !head.ended()) return line.size();
  if (head.is_contradictory() || head.status() == 0) return 0;
  if (head.has_coding()) flight.coding = std::make_unique<ContentCoding>(head.text());
  if (head.is_http2()) {
    if (flight.connection != nullptr) flight.connection->http2 = true;
  } else if (head.is_bodyless() && (flight.connection == nullptr || flight.connection->has_unparsed())) {
    flight.forbid_reuse();  // libcurl silently drops bytes that it reads together with the head
  }
  return line.size();
} catch (...) {
  static_cast<InFlight*>(context)->out_of_memory = true;
  return 0;
}

// Decodes the next piece of a body with a content coding; returns false if the body is too large.
bool take_coded(InFlight& flight, std::string_view piece) {
  std::string data;
  if (flight.head.is_chunked()) {
    static_cast<void>(flight.chunks.take(piece, data, piece.size()));
    if (flight.chunks.has_excess()) flight.forbid_reuse();
    piece = data;
  }
  return flight.coding->take(piece, flight.transfer.body, flight.max_response);
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* context) noexcept try {
  auto& flight = *static_cast<InFlight*>(context);
  const std::string_view piece(data, size * count);
  flight.note_news(piece.size());
  if (flight.coding != nullptr) {
    flight.over_limit = !take_coded(flight, piece);
    return flight.over_limit ? 0 : piece.size();
  }
  auto& body = flight.transfer.body;
  const std::size_t most = flight.max_response;
  const auto promised = flight.head.length();
  if (body.empty() && promised > most) {
    flight.over_limit = true;
    return 0;
  }
  if (body.size() >= large_piece) make_room(body, piece.size(), most);
  if (flight.head.is_chunked()) {
    if (!flight.chunks.take(piece, body, most)) {
      flight.over_limit = true;
      return 0;
    }
    if (flight.chunks.has_excess()) flight.forbid_reuse();
    return piece.size();
  }
  if (piece.size() > most - body.size()) {
    flight.over_limit = true;
    return 0;
  }
  if (body.empty() && piece.size() >= large_piece) {
    const auto length = std::min<std::uint64_t>(promised.value_or(0), longest_reserve);
    body.reserve(std::min(static_cast<std::size_t>(length), most));
  }
  body.append(piece);
  return piece.size();
} catch (...) {
  static_cast<InFlight*>(context)->out_of_memory = true;
  return 0;
}

// Whether this is libcurl's own descriptor for curl_multi_wakeup(). From 8.20 on, libcurl asks to watch it while any request
// runs, on behalf of a handle of its own.
bool is_wakeup(CURL* easy, int descriptor) noexcept {
  void* flight = nullptr;
  int kind = 0;
  socklen_t size = sizeof kind;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &flight) == CURLE_OK && flight == nullptr &&
         getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 && errno == ENOTSOCK;
}

// This callback always reports success, because after a failure libcurl would refuse all further work. If adding a
// socket to the epoll set fails, process() polls the socket by timer.
int on_socket(CURL* easy, curl_socket_t socket, int what, void* context, void*) noexcept {
  auto& engine = *static_cast<Engine::Impl*>(context);
  const bool readable = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
  const bool writable = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
  auto* const connection = engine.connections.find_descriptor(socket);
  if (connection == nullptr && engine.wakeup < 0 && readable && is_wakeup(easy, socket)) engine.wakeup = socket;
  // Pause only a connection that has already carried an answer, because only then is it certain that libcurl will call
  // close_socket() for it.
  const bool lasts = connection == nullptr ? socket == engine.wakeup : connection->read_only && connection->parsed > 0;
  if (what == CURL_POLL_REMOVE && lasts) {
    engine.readiness->pause(socket);
    return 0;
  }
  if (connection != nullptr) connection->read_only = readable && !writable;
  if (!engine.readiness->watch(socket, readable, writable)) engine.unwatched = true;
  return 0;
}

int on_timer(CURLM*, long milliseconds, void* context) noexcept {
  auto& due = *static_cast<std::optional<SteadyClock::time_point>*>(context);
  due.reset();
  if (milliseconds >= 0) due = SteadyClock::now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

}  // namespace

void set_callbacks(InFlight& flight) {
  CURL* const easy = flight.handle();
  set(easy, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(easy, CURLOPT_CLOSESOCKETFUNCTION, &close_socket);
  set(easy, CURLOPT_CLOSESOCKETDATA, &flight.engine);
  set(easy, CURLOPT_PREREQFUNCTION, &before_send);
  set(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set(easy, CURLOPT_OPENSOCKETDATA, &flight);
  set(easy, CURLOPT_PREREQDATA, &flight);
  set(easy, CURLOPT_HEADERDATA, &flight);
  set(easy, CURLOPT_WRITEDATA, &flight);
  set(easy, CURLOPT_PRIVATE, &flight);
  set(easy, CURLOPT_ERRORBUFFER, flight.error.data());
}

void set_event_callbacks(Engine::Impl& engine) noexcept {
  CURLM* const multi = engine.multi.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &engine);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &engine.due);
}

}  // namespace billcore::detail
