// How a request ends, and what happens to its connection then.
#include <sys/socket.h>

#include <algorithm>
#include <new>
#include <utility>

#include "http/in_flight.hpp"
#include "http/tls_layer.hpp"

namespace billcore::detail {

std::unique_ptr<InFlight> Engine::Impl::take(InFlight* flight, bool given_up) noexcept {
  const auto is_it = [flight](const auto& candidate) { return candidate.get() == flight; };
  const auto found = std::find_if(in_flight.begin(), in_flight.end(), is_it);
  if (found == in_flight.end()) {
    const auto place = std::find_if(waiting.begin(), waiting.end(), is_it);
    if (place == waiting.end()) return nullptr;
    auto taken = std::move(*place);
    waiting.erase(place);
    if (taken->expiry) timers.erase(*taken->expiry);
    return taken;
  }
  // An HTTP/2 connection stays open after the client has abandoned a request on it. If no bytes have arrived on the
  // connection since the request was sent, the connection may be dead, so retire it.
  const auto& connection = (*found)->connection;
  if (given_up && connection != nullptr && connection->news == (*found)->news_before) retire(*connection);
  settle(**found);
  auto taken = std::move(*found);
  in_flight.erase(found);
  if (taken->expiry) timers.erase(*taken->expiry);
  curl_multi_remove_handle(multi.get(), taken->easy.get());
  leave(*taken);
  if (!waiting.empty()) {  // a connection is free: let process() admit a waiting request
    unfinished = true;
    rearm();
  }
  return taken;
}

// Excludes the connection from reuse; libcurl closes it after its last request in flight. A shutdown() of its socket
// alone would not prevent the reuse, because libcurl 8.22 assumes that a connection it checked within the last second
// is alive.
void Engine::Impl::retire(Connection& connection) noexcept {
  connection.retired = true;
  for (const auto& each : in_flight) {
    if (each->connection.get() == &connection) each->forbid_reuse();
  }
}

void Engine::Impl::settle(InFlight& flight) noexcept {
  if (!flight.holds) return;
  flight.settle();
  if (flight.connection->was_reset) retire(*flight.connection);
}

void Engine::Impl::note_late() noexcept {
  if (!std::exchange(sending, false)) return;
  const auto now = SteadyClock::now();
  for (const auto& each : in_flight) {
    if (!each->leaving) continue;
    const auto& request = each->request;
    curl_off_t uploaded = 0;
    curl_easy_getinfo(each->easy.get(), CURLINFO_SIZE_UPLOAD_T, &uploaded);
    const bool gone = !request.body || static_cast<std::uint64_t>(uploaded) >= request.body->size();
    each->transfer.sent_late = request.deadline && now >= *request.deadline;
    each->leaving = !gone && !each->transfer.sent_late;
    sending = sending || each->leaving;
  }
}

void Engine::Impl::leave(InFlight& flight) noexcept {
  const auto connection = std::move(flight.connection);
  if (connection == nullptr) return;
  --connection->in_flight;
  deserted = deserted || connection->in_flight > 0;
  if (connection->descriptor == Connection::closed) return limit_streams();
  if (connection->retired && connection->in_flight == 0) shutdown(connection->descriptor, SHUT_RDWR);
  limit_streams();
}

bool Engine::Impl::has_unread() noexcept {
  if (!std::exchange(deserted, false)) return false;
  const Connection* last = nullptr;
  for (const auto& each : in_flight) {
    if (each->connection == nullptr || each->connection.get() == last) continue;
    last = each->connection.get();
    if (last->is_multiplexed() && holds_bytes(each->easy.get())) return true;
  }
  return false;
}

// libcurl chooses the connection for a request, and would add streams to a retired connection. Therefore allow libcurl
// only one stream per connection while a retired connection has streams in flight.
void Engine::Impl::limit_streams() noexcept {
  const bool limited = connections.has_retired_in_flight();
  if (limited == streams_limited) return;
  streams_limited = limited;
  curl_multi_setopt(multi.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, limited ? 1L : options.streams);
}

void Engine::Impl::give_back(std::unique_ptr<InFlight> flight) noexcept try {
  if (!reuses_handles) flight->easy.reset();
  if (flight->handle() == nullptr) return;
  // The handle is kept for reuse, so it must not refer to data of the finished request.
  if (flight->handle_options.post) curl_easy_setopt(flight->handle(), CURLOPT_POSTFIELDS, nullptr);
  flight->clear();
  spare.push_back(std::move(flight));
} catch (...) {
  // Memory ran out: the handle is freed instead of kept for reuse. The connection of the freed handle stays with the
  // engine.
}

void Engine::Impl::end(InFlight* flight) {
  flight->answered = flight->transfer.failure == Failure::none;
  auto taken = take(flight, flight->transfer.failure == Failure::timeout);
  const auto done = std::move(taken->done);
  auto transfer = std::move(taken->transfer);
  give_back(std::move(taken));
  done(std::move(transfer));
}

void Engine::Impl::expire_at(InFlight* flight, SteadyClock::time_point when) {
  const Timer timer{when, ++timer_count};
  timers.emplace(timer, [this, flight] { expire(flight); });
  flight->expiry = timer;
}

void Engine::Impl::expire(InFlight* flight) {
  auto& transfer = flight->transfer;
  // After the process or the machine was stopped, the answer to a write may have arrived, and not have been read.
  if (flight->request.write && transfer.sent && !std::exchange(flight->looked_again, true)) {
    const auto& connection = flight->connection;
    int running = 0;
    if (readiness != nullptr && connection != nullptr && connection->descriptor != Connection::closed) {
      note(curl_multi_socket_action(multi.get(), connection->descriptor, CURL_CSELECT_IN, &running));
    }
    unfinished = true;
    try {
      return expire_at(flight, SteadyClock::now());
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): no memory for another timer: end now
    }
  }
  transfer.failure = Failure::timeout;
  transfer.reason = transfer.sent ? "no answer in time" : "no connection was free in time";
  end(flight);
}

}  // namespace billcore::detail
