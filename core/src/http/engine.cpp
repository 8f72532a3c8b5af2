#include "http/engine.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "billcore/error.hpp"
#include "http/callbacks.hpp"
#include "http/diagnose.hpp"
#include "http/in_flight.hpp"
#include "http/streams.hpp"

namespace billcore::detail {
namespace {

constexpr auto interrupt_interval = std::chrono::milliseconds(25);
constexpr auto slice = std::chrono::milliseconds(2);  // time limit for the work of one process() call
constexpr auto unwatched_interval = std::chrono::milliseconds(10);
constexpr auto expiry_grace = std::chrono::milliseconds(5);  // lets libcurl's more precise time-out fire first
constexpr int kept_connections = 100;                        // at least

}  // namespace

Engine::Impl::Impl(const TransportOptions& from, std::shared_ptr<Descriptors> of)
    : options(from), descriptors(std::move(of)), multi(curl_multi_init()) {
  if (multi == nullptr) throw std::bad_alloc();
  if (!options.origin.empty()) {
    origin.reset(curl_url());
    if (origin == nullptr) throw std::bad_alloc();
    const CURLUcode code = curl_url_set(origin.get(), CURLUPART_URL, options.origin.c_str(), 0);
    if (code == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLUE_OK) origin.reset();
  }
  set_max_connections(options.max_connections);
  if (options.http2) curl_multi_setopt(multi.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, options.streams);
}
Engine::Impl::~Impl() {
  for (const auto& flight : in_flight) {
    settle(*flight);
    curl_multi_remove_handle(multi.get(), flight->easy.get());
  }
  // Unset the timer callback, because `due`, which it writes, is destroyed before `multi`.
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, nullptr);
}
void Engine::Impl::set_max_connections(int most) noexcept {
  options.max_connections = most;
  if (most > 0) curl_multi_setopt(multi.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(most));
  // By default libcurl keeps four connections per active request, so only four would stay open after a burst of
  // requests. Connections in use count too: with fewer than `most`, each answer would close one.
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(std::max(most, kept_connections)));
}
void Engine::Impl::note(CURLMcode code) {
  if (code == CURLM_OUT_OF_MEMORY)
    unwatched = true;
  else
    check(code);
}

Engine::Engine(const TransportOptions& options, std::shared_ptr<Descriptors> descriptors)
    : impl_(std::make_unique<Impl>(options, std::move(descriptors))) {}
Engine::~Engine() = default;

InFlight* Engine::start(Request request, Completion done) {
  const bool waits = impl_->must_wait();
  std::unique_ptr<InFlight> flight;
  if (waits || impl_->spare.empty()) {
    flight = std::make_unique<InFlight>(impl_->options, *impl_);
    if (!waits) impl_->make_handle(*flight);
  } else {
    flight = std::move(impl_->spare.back());
    impl_->spare.pop_back();
  }
  flight->done = std::move(done);
  flight->request = std::move(request);
  if (!waits) impl_->prepare(*flight);
  InFlight* const started = flight.get();
  if (waits) {
    impl_->waiting.push_back(std::move(flight));
  } else {
    impl_->in_flight.push_back(std::move(flight));
  }
  try {
    // libcurl does not apply the time-out to a request that is waiting for a connection, nor to a write that was sent
    // (before_send() in callbacks.cpp).
    const auto& asked = started->request;
    if (asked.deadline && (impl_->readiness != nullptr || asked.write)) {
      impl_->expire_at(started, *asked.deadline + expiry_grace);
    }
    if (!waits && curl_multi_add_handle(impl_->multi.get(), started->easy.get()) != CURLM_OK) throw std::bad_alloc();
  } catch (...) {
    if (started->expiry) stop(*started->expiry);
    if (waits) {
      impl_->waiting.pop_back();
    } else {
      impl_->in_flight.pop_back();
    }
    throw;
  }
  if (waits && impl_->has_room()) impl_->unfinished = true;
  impl_->send_now();
  impl_->rearm();
  return started;
}

bool Engine::Impl::must_wait() const noexcept {
  // Over HTTP/2 a connection serves many requests, so libcurl decides.
  if (readiness == nullptr || options.max_connections == 0 || options.http2) return false;
  return !waiting.empty() || !has_room() || !connections.any();
}

bool Engine::Impl::has_room() const noexcept {
  return in_flight.size() < static_cast<std::size_t>(options.max_connections);
}

void Engine::Impl::admit(SteadyClock::time_point until) {
  while (!waiting.empty() && has_room()) {
    InFlight* const flight = waiting.front().get();
    try {
      if (flight->handle() == nullptr) equip(*flight);
      prepare(*flight);
      in_flight.reserve(static_cast<std::size_t>(options.max_connections));
      if (curl_multi_add_handle(multi.get(), flight->easy.get()) != CURLM_OK) throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
      flight->transfer.failure = Failure::memory;
    } catch (const Error& refused) {  // this libcurl lacks an option
      flight->transfer.failure = Failure::other;
      flight->transfer.reason = refused.what();
    }
    if (flight->transfer.failure != Failure::none) {
      end(flight);
      continue;
    }
    in_flight.push_back(std::move(waiting.front()));
    waiting.pop_front();
    run_started();
    if (SteadyClock::now() < until) continue;
    unfinished = unfinished || !waiting.empty();
    return;
  }
}

// This function must not fail, because the request is already in flight. process() completes a request that ends
// within send_now().
void Engine::Impl::send_now() noexcept {
  // Without an open connection, leave the request to the event loop: connecting can take so long that it would block
  // the other threads of a language with a global lock.
  if (due && connections.any()) run_started();
}

void Engine::Impl::run_started() noexcept {
  due.reset();
  int running = 0;
  if (curl_multi_socket_action(multi.get(), CURL_SOCKET_TIMEOUT, 0, &running) == CURLM_OUT_OF_MEMORY) unwatched = true;
  note_late();
  if (static_cast<std::size_t>(running) < in_flight.size()) unfinished = true;
}

namespace {

// Status of the proxy's answer to CONNECT; 0 without a tunnel.
int tunnel_status(CURL* easy) noexcept {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
  return static_cast<int>(status);
}

}  // namespace

void Engine::Impl::judge(InFlight& flight, CURLcode code) {
  Transfer& transfer = flight.transfer;
  Evidence evidence;
  evidence.code = code;
  evidence.words = flight.error.data();
  evidence.status = transfer.status;
  if (code != CURLE_OK) evidence.tunnel_status = tunnel_status(flight.easy.get());
  evidence.sent = transfer.sent;
  evidence.sent_again = flight.guarded && flight.sends > 1;
  evidence.dead_before_send = transfer.dead_before_send;
  evidence.late = flight.late;
  evidence.unnamed = flight.unnamed;
  evidence.unheld = flight.unheld;
  evidence.refusal = flight.refusal;
  evidence.out_of_memory = flight.out_of_memory;
  evidence.body_over_limit = flight.over_limit;
  evidence.max_response = flight.max_response;
  evidence.headers_over_limit = flight.headers_over_limit;
  evidence.body_ended = flight.chunks.ended();
  evidence.body = flight.body_bytes();
  evidence.reports_cuts = sees_streams || reports_cut_streams(release);
  evidence.stream_ended = !sees_streams || flight.stream_ended;
  evidence.whole = code != CURLE_OK && flight.has_whole_answer();
  evidence.lost = hides_broken_connections(release) && flight.connection != nullptr &&
                  flight.connection->descriptor == Connection::closed && !flight.reuse_forbidden;
  if (code != CURLE_OK && flight.connection != nullptr) evidence.read_ahead = flight.connection->read_ahead();
  auto found = diagnose(evidence, flight.head);
  transfer.failure = found.failure;
  transfer.reason = std::move(found.reason);
  transfer.died_on_reuse = found.died_on_reuse;
  transfer.ending = found.ending;
  if (flight.coding != nullptr && found.failure == Failure::none) flight.coding->end(transfer);
  if (!found.has_status) transfer.status = 0;
  if (found.failure == Failure::none && code != CURLE_OK) transfer.status = flight.head.status();
  if (found.failure == Failure::http1_required && options.http2_refused != nullptr) *options.http2_refused = true;
}

bool Engine::Impl::collect(Deadline until) {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* context = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
    auto* flight = static_cast<InFlight*>(context);
    Transfer& transfer = flight->transfer;
    long status = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    transfer.status = static_cast<int>(status);
    transfer.head = std::move(flight->head.text());
    // Retire the connection, because libcurl 8.22 keeps using a connection on which nghttp2 has failed.
    if (breaks_connection(code) && flight->connection != nullptr) retire(*flight->connection);
    try {
      judge(*flight, code);
    } catch (const std::bad_alloc&) {  // end the transfer now: libcurl reports its end only once
      transfer.failure = Failure::memory;
      transfer.reason.clear();
    }
    end(flight);
    if (until && left > 0 && SteadyClock::now() >= *until) return false;
  }
  return true;
}

void Engine::Impl::check(CURLMcode code) const {
  if (code == CURLM_OK) return;
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(ErrorCode::internal, std::string("libcurl: ") + curl_multi_strerror(code));
}

bool Engine::drive(const std::function<bool()>& until, const std::function<bool()>& interrupt,
                   const std::stop_token& cancel) {
  // The callback runs on the thread that requests the stop; the destructor of `wake` waits for a running callback.
  const std::stop_callback wake(cancel, [this]() noexcept { curl_multi_wakeup(impl_->multi.get()); });
  auto asked = interrupt ? SteadyClock::now() : SteadyClock::time_point();
  while (true) {
    int running = 0;
    impl_->check(curl_multi_perform(impl_->multi.get(), &running));
    impl_->note_late();
    impl_->collect();
    impl_->run_timers();
    if (until()) return true;
    bool ends = cancel.stop_requested();
    if (!ends && interrupt && SteadyClock::now() - asked >= interrupt_interval) {
      ends = interrupt();
      asked = SteadyClock::now();
    }
    if (ends) {
      // Read an answer that arrived while `interrupt` ran, so that the caller can report the outcome of a write.
      static_cast<void>(curl_multi_perform(impl_->multi.get(), &running));
      impl_->note_late();
      impl_->collect();
      return false;
    }
    auto wait = impl_->has_unread() ? std::chrono::milliseconds(0) : interrupt_interval;
    if (!impl_->timers.empty()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(impl_->timers.begin()->first.first - SteadyClock::now());
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    curl_multi_poll(impl_->multi.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
  }
}

Engine::Timer Engine::at(SteadyClock::time_point when, std::function<void()> then) {
  const Timer timer{when, ++impl_->timer_count};
  impl_->timers.emplace(timer, std::move(then));
  impl_->rearm();
  return timer;
}

void Engine::stop(const Timer& timer) noexcept { impl_->timers.erase(timer); }

void Engine::Impl::run_timers(Deadline until) {
  if (timers.empty()) return;
  const auto now = SteadyClock::now();
  while (!timers.empty() && timers.begin()->first.first <= now) {
    const auto then = std::move(timers.begin()->second);
    timers.erase(timers.begin());
    then();
    if (until && SteadyClock::now() >= *until) return;
  }
}

void Engine::Impl::make_readiness() {
  readiness = std::make_unique<Readiness>();
  set_event_callbacks(*this);
}

void Engine::Impl::rearm() noexcept {
  if (readiness == nullptr) return;
  auto next = unfinished || deserted ? SteadyClock::now() : due;
  if (unwatched) {
    const auto soon = SteadyClock::now() + unwatched_interval;
    if (!next || soon < *next) next = soon;
  }
  if (!timers.empty() && (!next || timers.begin()->first.first < *next)) next = timers.begin()->first.first;
  readiness->wake_at(next);
}

int Engine::descriptor() {
  if (impl_->readiness == nullptr) impl_->make_readiness();
  return impl_->readiness->descriptor();
}

void Engine::process() {
  process(SteadyClock::now() + slice);
  if (!impl_->readiness->is_lost()) return;
  throw Error(ErrorCode::invalid_argument,
              "the descriptor of the event loop was closed, which only the loop may do: it is not readable any more");
}

void Engine::process(SteadyClock::time_point until) {
  std::array<Readiness::Ready, 64> room;
  int running = 0;
  for (const auto& ready : impl_->readiness->poll(room)) {
    if (impl_->beside != nullptr && ready.socket == impl_->beside->descriptor()) {
      impl_->beside->process(until);
      continue;
    }
    const int what = (ready.readable ? CURL_CSELECT_IN : 0) | (ready.writable ? CURL_CSELECT_OUT : 0) |
                     (ready.failed ? CURL_CSELECT_ERR : 0);
    impl_->note(curl_multi_socket_action(impl_->multi.get(), ready.socket, what, &running));
    if (SteadyClock::now() >= until) break;  // the next process() handles the remaining sockets, which stay ready
  }
  if (impl_->due && *impl_->due <= SteadyClock::now()) {
    impl_->due.reset();
    impl_->note(curl_multi_socket_action(impl_->multi.get(), CURL_SOCKET_TIMEOUT, 0, &running));
  }
  if (impl_->unwatched || impl_->readiness->is_lost()) {
    impl_->note(curl_multi_perform(impl_->multi.get(), &running));
    impl_->unwatched = !impl_->in_flight.empty();
  }
  impl_->note_late();
  impl_->unfinished = !impl_->collect(until);
  // While finished transfers wait to be collected, do not run timers: an answer that has already arrived must not
  // time out.
  if (!impl_->unfinished) impl_->run_timers(until);
  impl_->admit(until);
  if (impl_->has_unread()) {
    impl_->note(curl_multi_perform(impl_->multi.get(), &running));
    impl_->note_late();
    impl_->unfinished = true;
  }
  impl_->rearm();
}

void Engine::wake() noexcept {
  impl_->unfinished = true;
  impl_->rearm();
}

void Engine::wake_from_any_thread() const noexcept { impl_->readiness->wake(); }

bool Engine::is_ready() const noexcept { return impl_->readiness->is_ready(); }

int Engine::max_connections() const noexcept { return impl_->options.max_connections; }

void Engine::set_max_connections(int most) noexcept { impl_->set_max_connections(most); }

void Engine::drive_with(Engine& other) {
  static_cast<void>(descriptor());
  if (!impl_->readiness->watch(other.descriptor(), true, false)) throw std::bad_alloc();
  impl_->beside = &other;
}

Engine::Progress Engine::progress(InFlight* flight) noexcept {
  return {flight->transfer.sent, flight->transfer.sent_at, flight->head.text()};
}

bool Engine::cancel(InFlight* flight, SendTime* sent_at) noexcept {
  auto taken = impl_->take(flight, true);
  if (taken == nullptr) return false;
  const bool sent = taken->transfer.sent;
  if (sent && sent_at != nullptr) *sent_at = taken->transfer.sent_at;
  impl_->give_back(std::move(taken));
  if (impl_->deserted) impl_->rearm();
  return sent;
}

void Engine::set_deadline(InFlight* flight, const Deadline& deadline) noexcept { flight->request.deadline = deadline; }

void Engine::detach(InFlight* flight) noexcept {
  if (auto taken = impl_->take(flight, false)) impl_->give_back(std::move(taken));
  if (impl_->deserted) impl_->rearm();
}

}  // namespace billcore::detail
