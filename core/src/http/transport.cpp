// The one file that knows libcurl.
#include "http/transport.hpp"

#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>

#include "base/text.hpp"
#include "billcore/error.hpp"
#include "http/chunked.hpp"
#include "http/connections.hpp"
#include "http/head.hpp"
#include "http/readiness.hpp"
#include "http/releases.hpp"

// Of the TLS library that libcurl uses; libcurl brings it along, or not: then these are null pointers. Only these functions of
// it are needed, so no header of OpenSSL is included, and nothing more is linked.
struct ssl_st;
extern "C" __attribute__((weak)) int SSL_has_pending(const ssl_st* ssl);
extern "C" __attribute__((weak)) void SSL_get0_alpn_selected(const ssl_st* ssl, const unsigned char** name,
                                                             unsigned int* size);

namespace billcore::detail {
namespace {

constexpr auto interrupt_interval = std::chrono::milliseconds(25);
constexpr auto slice = std::chrono::milliseconds(2);  // of work in one turn of an event loop
constexpr auto unwatched_interval = std::chrono::milliseconds(10);
constexpr auto expiry_grace = std::chrono::milliseconds(5);  // libcurl knows better why, where it counts itself
constexpr long kept_connections = 100;
constexpr long usual_streams = 100;                              // of one connection at once, libcurl's default
constexpr std::size_t large_piece = std::size_t{8} << 10U;       // of a body: more are likely to follow
constexpr std::size_t longest_reserve = std::size_t{16} << 20U;  // whatever an answer promises
constexpr std::size_t max_header_bytes = std::size_t{256}
                                         << 10U;  // below libcurl's own limit, which looks like a reset
// libcurl's limit of one header line in HTTP/1. Beyond it libcurl reports that memory ran out, from 8.6 on CURLE_TOO_LARGE.
constexpr std::size_t max_header_line = std::size_t{100} << 10U;
constexpr int curle_too_large = 100;

struct FreeList {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

struct FreeEasy {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
using EasyHandle = std::unique_ptr<CURL, FreeEasy>;

struct FreeUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};

struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};

HeaderList make_list(const std::vector<std::string>& common, std::initializer_list<const char*> more) {
  HeaderList list;
  const auto append = [&list](const char* header) {
    curl_slist* longer = curl_slist_append(list.get(), header);
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list.release());
    list.reset(longer);
  };
  for (const auto& header : common) append(header.c_str());
  for (const char* header : more) append(header);
  return list;
}

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

// Is the whole connection at an end, not one of its streams?
bool breaks_connection(CURLcode code) noexcept {
  return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_HTTP2;
}

// Is it an alert of the other side about the client's certificate? In TLS 1.3 that comes where the answer should: the
// client has done its part by then, and the request has left.
bool refuses_certificate(std::string_view reason) noexcept {
  constexpr std::array<std::string_view, 3> words{"certificate", "unknown ca", "access denied"};
  const auto alert = reason.find(" alert ");
  return alert != std::string_view::npos && std::any_of(words.begin(), words.end(), [&](std::string_view word) {
           return reason.find(word, alert) != std::string_view::npos;
         });
}

std::int64_t utc_micros() noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

struct RequestHeaders::Lists {
  HeaderList plain;
  HeaderList with_json;
  HeaderList without_body;
};

RequestHeaders::RequestHeaders(const std::vector<std::string>& lines)
    : lists_(new Lists{make_list(lines, {}), make_list(lines, {"Expect:", "Content-Type: application/json"}),
                       make_list(lines, {"Expect:", "Content-Type:"})}) {}
RequestHeaders::~RequestHeaders() = default;

// State of one request.
struct Engine::Course {
  Request request;
  Completion done;
  Transfer transfer = {};
  int sends = 0;
  bool opened = false;                               // a connection of its own
  std::shared_ptr<Connection> connection = nullptr;  // that it left over
  std::uint64_t news_before = 0;                     // of that connection
  HeadReader head = {};
  ChunkedBody chunks = {};
  std::size_t header_bytes = 0;
  bool over_limit = false;
  bool headers_over_limit = false;
  bool out_of_memory = false;  // in a callback, which can only stop the transfer
  std::optional<Timer> expiry = {};
};

// Used for one request after the other where libcurl is sound (releases.hpp): to set all options of a handle again costs more
// than to change a few.
class Engine::Operation : public Course {
 public:
  Operation(const TransportOptions& options, Impl& of)
      : Course{}, guarded(options.send_guard), max_response(options.max_response), engine(of) {}

  /// A part of the answer has arrived.
  void note_news(std::size_t bytes) const noexcept {
    if (connection == nullptr) return;
    ++connection->news;
    connection->parsed += bytes;
  }
  /// The connection ends with this answer: whatever else arrives on it is nobody's.
  void forbid_reuse() const noexcept { curl_easy_setopt(easy.get(), CURLOPT_FORBID_REUSE, 1L); }

  const bool guarded;
  const std::size_t max_response;
  Impl& engine;
  std::array<char, CURL_ERROR_SIZE> error{};
  EasyHandle easy;
};

struct Engine::Impl {
  Impl(const TransportOptions& from, std::shared_ptr<Descriptors> of)
      : options(from), descriptors(std::move(of)), multi(curl_multi_init()) {
    if (multi == nullptr) throw std::bad_alloc();
    if (!options.origin.empty()) {
      origin.reset(curl_url());
      if (origin == nullptr) throw std::bad_alloc();
      const CURLUcode code = curl_url_set(origin.get(), CURLUPART_URL, options.origin.c_str(), 0);
      if (code == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
      if (code != CURLUE_OK) origin.reset();
    }
    if (options.max_connections > 0) {
      curl_multi_setopt(multi.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(options.max_connections));
    }
    // Left alone it keeps four for each request under way: after the last of many that is four.
    curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, kept_connections);
  }
  ~Impl() {
    for (const auto& operation : operations) curl_multi_remove_handle(multi.get(), operation->easy.get());
    // What it would tell of, it would tell to members that are gone.
    curl_multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, nullptr);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::unique_ptr<Operation> make_operation();
  void prepare(Operation& operation);
  void set_address(CURL* easy, const std::string& url) const;
  // Ends what has ended; false when there was more than could be done by then.
  bool collect(Deadline until = std::nullopt);
  // Says in the transfer of an operation what became of it.
  void judge(Operation& operation, CURLcode code) const;
  void check(CURLMcode code) const;
  // The same in an event loop, where memory that ran out for one operation must not stop the others: libcurl may have
  // forgotten a socket or a time.
  void note(CURLMcode code) {
    if (code == CURLM_OUT_OF_MEMORY)
      unwatched = true;
    else
      check(code);
  }
  void run_timers();
  void expire(Operation* operation);
  void make_readiness();
  void rearm() noexcept;
  // given_up: it ends without its answer, by deadline, cancellation or interrupt.
  std::unique_ptr<Operation> take(Operation* operation, bool given_up) noexcept;
  void retire(Connection& connection) noexcept;
  void leave(Operation& operation) noexcept;
  void limit_streams() noexcept;
  void give_back(std::unique_ptr<Operation> operation) noexcept;
  void end(Operation* operation);

  TransportOptions options;
  std::shared_ptr<Descriptors> descriptors;  // must outlive `multi`, like the next three
  Connections connections;
  std::unique_ptr<Readiness> readiness;
  std::unique_ptr<CURLU, FreeUrl> origin;
  std::unique_ptr<CURLM, FreeMulti> multi;
  bool streams_limited = false;
  const bool reuses_handles = !keeps_stale_header(libcurl_version());
  std::vector<std::unique_ptr<Operation>> spare;
  std::vector<std::unique_ptr<Operation>> operations;
  std::map<Timer, std::function<void()>> timers;
  std::uint64_t timer_count = 0;
  bool unfinished = false;                     // process() left something to do
  bool unwatched = false;                      // libcurl waits for a socket that the set does not hold
  std::optional<SteadyClock::time_point> due;  // when libcurl wants to be called, in an event loop
};

namespace {

curl_socket_t open_socket(void* context, curlsocktype, curl_sockaddr* address) noexcept {
  auto& operation = *static_cast<Engine::Operation*>(context);
  const int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (made < 0) return CURL_SOCKET_BAD;
  try {
    operation.engine.connections.add(made);
  } catch (...) {
    operation.out_of_memory = true;
    close(made);
    return CURL_SOCKET_BAD;
  }
  operation.opened = true;
  operation.engine.descriptors->add(made);
  return made;
}

int close_socket(void* context, curl_socket_t closed) noexcept {
  auto& engine = *static_cast<Engine::Impl*>(context);
  engine.connections.remove(closed);
  engine.descriptors->remove(closed);
  return close(closed);
}

struct TlsLayer {
  bool readable = false;        // its state can be asked for
  const ssl_st* ssl = nullptr;  // nullptr: plain
};

// Of two layers, through an https proxy, libcurl shows the inner one.
TlsLayer tls_of(CURL* easy) noexcept {
  curl_tlssessioninfo* tls = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || tls == nullptr) return {};
  if (tls->internals == nullptr) return {true, nullptr};
  if (tls->backend != CURLSSLBACKEND_OPENSSL || &SSL_has_pending == nullptr || &SSL_get0_alpn_selected == nullptr)
    return {};
  return {true, static_cast<const ssl_st*>(tls->internals)};
}

// Is there a TLS layer of a proxy around that of the service?
bool is_in_tls_tunnel(const Engine::Operation& operation) noexcept {
  long answer = 0;
  if (curl_easy_getinfo(operation.easy.get(), CURLINFO_HTTP_CONNECTCODE, &answer) != CURLE_OK) return true;
  if (operation.opened && answer == 0) return false;
  const auto is_https = [](std::string_view url) { return equal_ignoring_case(url.substr(0, 6), "https:"); };
  if (const auto& proxy = operation.engine.options.proxy) return is_https(*proxy);
  constexpr std::array names{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && is_https(value);
  });
}

// What the handshake says of a connection, on its first request.
void learn(const Engine::Operation& operation, Connection& connection) noexcept {
  const auto tls = tls_of(operation.easy.get());
  connection.opaque = !tls.readable || (tls.ssl != nullptr && is_in_tls_tunnel(operation));
  if (!tls.readable) return;
  connection.known = true;
  if (tls.ssl == nullptr) return;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(tls.ssl, &name, &size);
  connection.http2 = std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

// Has the TLS library read bytes of an HTTP/1 connection that libcurl has not taken from it? poll() cannot see those.
bool holds_bytes(CURL* easy) noexcept {
  const auto tls = tls_of(easy);
  return !tls.readable || (tls.ssl != nullptr && SSL_has_pending(tls.ssl) != 0);
}

// May another request leave over this kept connection? What arrives between this look and the request is taken for its
// answer: HTTP/1 has nothing to tell the two apart by.
bool is_usable(const Engine::Operation& operation, const Connection& connection) noexcept {
  if (connection.retired) return false;
  if (connection.is_multiplexed()) return !connection.is_dead();
  return !connection.opaque && !connection.is_readable() && !holds_bytes(operation.easy.get());
}

// Called by libcurl when a connection is ready and the request is about to leave.
int before_send(void* context, char*, char*, int, int local_port) noexcept {
  auto& operation = *static_cast<Engine::Operation*>(context);
  if (operation.sends > 0) {
    ++operation.sends;
    return operation.guarded ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
  }
  auto connection = operation.engine.connections.find(local_port);
  if (!operation.opened && (connection == nullptr || !is_usable(operation, *connection))) {
    operation.transfer.dead_before_send = true;
    operation.forbid_reuse();  // or libcurl may choose it again
    return CURL_PREREQFUNC_ABORT;
  }
  operation.sends = 1;
  operation.transfer.sent = true;
  operation.transfer.sent_at = utc_micros();
  if (connection != nullptr) {
    if (connection->in_flight == 0 && !connection->known) learn(operation, *connection);
    if (connection->opaque && !connection->http2) operation.forbid_reuse();
    ++connection->in_flight;
    operation.news_before = connection->news;
    operation.connection = std::move(connection);
  }
  return CURL_PREREQFUNC_OK;
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* context) noexcept try {
  auto& operation = *static_cast<Engine::Operation*>(context);
  const std::string_view line(data, size * count);
  operation.note_news(line.size());
  operation.header_bytes += line.size();
  if (operation.header_bytes > max_header_bytes) {
    operation.headers_over_limit = true;
    return 0;
  }
  auto& head = operation.head;
  const bool was_ended = head.ended();
  head.take(line);
  if (was_ended || !head.ended()) return line.size();
  if (head.is_contradictory() || head.status() == 0) return 0;
  if (head.is_http2()) {
    if (operation.connection != nullptr) operation.connection->http2 = true;
  } else if (head.is_bodyless() && (operation.connection == nullptr || operation.connection->has_unparsed())) {
    operation.forbid_reuse();  // libcurl drops what follows in the same read without a word
  }
  return line.size();
} catch (...) {
  static_cast<Engine::Operation*>(context)->out_of_memory = true;
  return 0;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* context) noexcept try {
  auto& operation = *static_cast<Engine::Operation*>(context);
  const std::string_view piece(data, size * count);
  operation.note_news(piece.size());
  auto& body = operation.transfer.body;
  const std::size_t most = operation.max_response;
  if (operation.head.is_chunked()) {
    if (!operation.chunks.take(piece, body, most)) {
      operation.over_limit = true;
      return 0;
    }
    if (operation.chunks.has_excess()) operation.forbid_reuse();
    return piece.size();
  }
  if (piece.size() > most - body.size()) {
    operation.over_limit = true;
    return 0;
  }
  if (body.empty() && piece.size() >= large_piece) {
    const auto promised = std::min<std::uint64_t>(operation.head.length().value_or(0), longest_reserve);
    body.reserve(std::min(static_cast<std::size_t>(promised), most));
  }
  body.append(piece);
  return piece.size();
} catch (...) {
  static_cast<Engine::Operation*>(context)->out_of_memory = true;
  return 0;
}

template <typename T>
void set(CURL* easy, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLE_OK) {
    throw Error(ErrorCode::config, std::string("libcurl refused an option: ") + curl_easy_strerror(code));
  }
}

// What cannot be watched is asked for by the clock: after a failure of this function libcurl would refuse all further work.
int on_socket(CURL*, curl_socket_t socket, int what, void* context, void*) noexcept {
  auto& engine = *static_cast<Engine::Impl*>(context);
  const bool readable = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
  const bool writable = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
  if (!engine.readiness->watch(socket, readable, writable)) engine.unwatched = true;
  return 0;
}

int on_timer(CURLM*, long milliseconds, void* context) noexcept {
  auto& due = *static_cast<std::optional<SteadyClock::time_point>*>(context);
  due.reset();
  if (milliseconds >= 0) due = SteadyClock::now() + std::chrono::milliseconds(milliseconds);
  return 0;
}

// Did libcurl give up because the headers are over a limit of its own? In HTTP/1 it says that memory ran out; that is so
// unless it has read more than a line may have. In HTTP/2 its callback fails, or nghttp2 has seen enough of them; nghttp2
// reports both in words only. On a connection that was used before, libcurl then sends again, which the guard ends.
bool has_too_large_headers(const Engine::Operation& operation, CURLcode code) noexcept {
  if (!operation.transfer.sent || operation.head.ended()) return false;
  if (static_cast<int>(code) == curle_too_large) return true;
  const std::uint64_t ahead = operation.connection != nullptr ? operation.connection->read_ahead() : 0;
  if (code == CURLE_OUT_OF_MEMORY) return ahead > max_header_line;
  const std::string_view reason(operation.error.data());
  if (code == CURLE_OK) return false;
  if (reason.find("Too many CONTINUATION frames") != std::string_view::npos) return true;
  // The callback also fails for a stream that nobody has opened. Compressed, a line takes 5 bits for each 8 at the least.
  return reason.find("callback function failed") != std::string_view::npos && ahead > max_header_line / 2;
}

// Does libcurl itself, from about 8.20 on, refuse a Content-Length that is not one number? It does so before it shows the line.
bool has_bad_length(const Engine::Operation& operation, CURLcode code) noexcept {
  return code == CURLE_WEIRD_SERVER_REPLY && operation.transfer.sent &&
         std::string_view(operation.error.data()).find("Content-Length") != std::string_view::npos;
}

// What a proxy answered when it was asked for a tunnel; 0 without one.
int tunnel_status(CURL* easy) noexcept {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &status);
  return static_cast<int>(status);
}

}  // namespace

std::unique_ptr<Engine::Operation> Engine::Impl::make_operation() {
  auto made = std::make_unique<Operation>(options, *this);
  made->easy.reset(curl_easy_init());
  CURL* easy = made->easy.get();
  if (easy == nullptr) throw std::bad_alloc();
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_NOPROGRESS, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);  // the key is a custom header and would go along
  set(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  if (options.proxy) set(easy, CURLOPT_PROXY, options.proxy->c_str());
  // Or the environment is searched for each request.
  if (options.proxy && options.proxy->empty()) set(easy, CURLOPT_NOPROXY, "*");
  set(easy, CURLOPT_HTTP_TRANSFER_DECODING, 0L);    // see chunked.hpp
  set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // those are the proxy's, and no answer
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_MAXAGE_CONN, static_cast<long>(options.max_idle.count()));
  set(easy, CURLOPT_QUICK_EXIT, 1L);  // a hung resolver thread must not hold a call beyond its deadline
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::numeric_limits<std::int32_t>::max()));
  if (options.ca_file || options.ca_folder) {
    // What is not given is unset, or libcurl's own would be trusted besides.
    set(easy, CURLOPT_CAINFO, options.ca_file ? options.ca_file->c_str() : nullptr);
    set(easy, CURLOPT_CAPATH, options.ca_folder ? options.ca_folder->c_str() : nullptr);
    set(easy, CURLOPT_PROXY_CAINFO, options.ca_file ? options.ca_file->c_str() : nullptr);
    set(easy, CURLOPT_PROXY_CAPATH, options.ca_folder ? options.ca_folder->c_str() : nullptr);
  }
  if (options.client_certificate) {
    set(easy, CURLOPT_SSLCERT, options.client_certificate->c_str());
    set(easy, CURLOPT_SSLKEY, options.client_certificate->c_str());
    set(easy, CURLOPT_KEYPASSWD, "");  // or OpenSSL asks for one on the terminal
  }
  set(easy, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(easy, CURLOPT_CLOSESOCKETFUNCTION, &close_socket);
  set(easy, CURLOPT_CLOSESOCKETDATA, this);
  set(easy, CURLOPT_PREREQFUNCTION, &before_send);
  set(easy, CURLOPT_HEADERFUNCTION, &on_header);
  set(easy, CURLOPT_WRITEFUNCTION, &on_body);
  set(easy, CURLOPT_OPENSOCKETDATA, made.get());
  set(easy, CURLOPT_PREREQDATA, made.get());
  set(easy, CURLOPT_HEADERDATA, made.get());
  set(easy, CURLOPT_WRITEDATA, made.get());
  set(easy, CURLOPT_PRIVATE, made.get());
  set(easy, CURLOPT_ERRORBUFFER, made->error.data());
  return made;
}

// libcurl parses a URL and puts it together again for each request, which is a fifth of what a request costs it. The origin
// is parsed once, and what follows it is sent as it stands.
void Engine::Impl::set_address(CURL* easy, const std::string& url) const {
  if (origin != nullptr && url.starts_with(options.origin) && url[options.origin.size()] == '/') {
    set(easy, CURLOPT_CURLU, origin.get());
    set(easy, CURLOPT_REQUEST_TARGET, url.c_str() + options.origin.size());
  } else {
    set<CURLU*>(easy, CURLOPT_CURLU, nullptr);
    set<const char*>(easy, CURLOPT_REQUEST_TARGET, nullptr);
    set(easy, CURLOPT_URL, url.c_str());
  }
}

void Engine::Impl::prepare(Operation& operation) {
  CURL* easy = operation.easy.get();
  const Request& request = operation.request;
  set_address(easy, request.url);
  // Over TLS a request rather waits for a connection that is being made than makes another: it may have room for both.
  const bool http2 = options.http2 && request.url.starts_with("https:");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_PIPEWAIT, http2 ? 1L : 0L);
  set(easy, CURLOPT_FRESH_CONNECT, request.fresh ? 1L : 0L);
  set(easy, CURLOPT_FORBID_REUSE, 0L);
  const auto& headers = *request.headers->lists_;
  const bool has_body = request.body && !request.body->empty();
  if (has_body || request.method == "POST") {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(has_body ? request.body->size() : 0));
    set(easy, CURLOPT_POSTFIELDS, has_body ? request.body->data() : "");
    set(easy, CURLOPT_HTTPHEADER, has_body ? headers.with_json.get() : headers.without_body.get());
  } else {
    set(easy, CURLOPT_HTTPGET, 1L);
    set(easy, CURLOPT_HTTPHEADER, headers.plain.get());
  }
  set(easy, CURLOPT_CUSTOMREQUEST,
      request.method == "GET" || request.method == "POST" ? nullptr : request.method.c_str());

  long timeout = 0;  // none
  if (request.deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*request.deadline - SteadyClock::now()).count();
    timeout = static_cast<long>(std::clamp<std::int64_t>(left, 1, std::numeric_limits<std::int32_t>::max()));
  }
  set(easy, CURLOPT_TIMEOUT_MS, timeout);
}

Engine::Engine(const TransportOptions& options, std::shared_ptr<Descriptors> descriptors)
    : impl_(std::make_unique<Impl>(options, std::move(descriptors))) {}
Engine::~Engine() = default;

Engine::Operation* Engine::start(Request request, Completion done) {
  std::unique_ptr<Operation> operation;
  if (impl_->spare.empty()) {
    operation = impl_->make_operation();
  } else {
    operation = std::move(impl_->spare.back());
    impl_->spare.pop_back();
  }
  static_cast<Course&>(*operation) = Course{std::move(request), std::move(done)};
  operation->error[0] = '\0';
  impl_->prepare(*operation);
  Operation* const started = operation.get();
  impl_->operations.push_back(std::move(operation));
  try {
    // libcurl does not look at the time of a request that waits for a connection.
    if (impl_->readiness != nullptr && started->request.deadline) {
      started->expiry =
          at(*started->request.deadline + expiry_grace, [impl = impl_.get(), started] { impl->expire(started); });
    }
    if (curl_multi_add_handle(impl_->multi.get(), started->easy.get()) != CURLM_OK) throw std::bad_alloc();
  } catch (...) {
    if (started->expiry) stop(*started->expiry);
    impl_->operations.pop_back();
    throw;
  }
  impl_->rearm();
  return started;
}

std::unique_ptr<Engine::Operation> Engine::Impl::take(Operation* operation, bool given_up) noexcept {
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [operation](const auto& candidate) { return candidate.get() == operation; });
  if (found == operations.end()) return nullptr;
  // An HTTP/2 connection outlives the requests that are given up on it. One on which nothing has arrived since such a
  // request left may be dead without a sign.
  const auto& connection = (*found)->connection;
  if (given_up && connection != nullptr && connection->news == (*found)->news_before) retire(*connection);
  auto taken = std::move(*found);
  operations.erase(found);
  if (taken->expiry) timers.erase(*taken->expiry);
  curl_multi_remove_handle(multi.get(), taken->easy.get());
  leave(*taken);
  return taken;
}

// The connection gets no further request, and ends with the last one that is in flight. libcurl itself must end it: 8.22 takes
// a connection that it looked at within the last second for alive, and would offer one that is only shut down for reuse.
void Engine::Impl::retire(Connection& connection) noexcept {
  connection.retired = true;
  for (const auto& each : operations) {
    if (each->connection.get() == &connection) each->forbid_reuse();
  }
}

void Engine::Impl::leave(Operation& operation) noexcept {
  const auto connection = std::move(operation.connection);
  if (connection == nullptr) return;
  --connection->in_flight;
  if (connection->descriptor == Connection::closed) return limit_streams();
  if (connection->retired && connection->in_flight == 0) shutdown(connection->descriptor, SHUT_RDWR);
  limit_streams();
}

// libcurl chooses the connection, and would go on to choose the retired one. While that is in flight with other streams,
// libcurl may not add a stream to any connection that has one.
void Engine::Impl::limit_streams() noexcept {
  const bool limited = connections.has_retired_in_flight();
  if (limited == streams_limited) return;
  streams_limited = limited;
  curl_multi_setopt(multi.get(), CURLMOPT_MAX_CONCURRENT_STREAMS, limited ? 1L : usual_streams);
}

void Engine::Impl::give_back(std::unique_ptr<Operation> operation) noexcept try {
  if (!reuses_handles) return;
  // Nothing of the finished request may be reached through what is kept.
  curl_easy_setopt(operation->easy.get(), CURLOPT_POSTFIELDS, nullptr);
  static_cast<Course&>(*operation) = Course{};
  spare.push_back(std::move(operation));
} catch (...) {
  // No memory to remember it: the handle goes, its connection stays with the engine.
}

void Engine::Impl::end(Operation* operation) {
  auto taken = take(operation, operation->transfer.failure == Failure::timeout);
  const auto done = std::move(taken->done);
  auto transfer = std::move(taken->transfer);
  give_back(std::move(taken));
  done(std::move(transfer));
}

void Engine::Impl::judge(Operation& operation, CURLcode code) const {
  CURL* const easy = operation.easy.get();
  Transfer& transfer = operation.transfer;
  transfer.failure = classify(code);
  if (operation.over_limit) {
    transfer.failure = Failure::too_large;
    transfer.reason = "the answer is over max_response (" + std::to_string(operation.max_response) + " bytes)";
  } else if (operation.headers_over_limit) {
    transfer.failure = Failure::protocol;
    transfer.reason = "the headers are over " + std::to_string(max_header_bytes) + " bytes";
  } else if (operation.out_of_memory) {
    transfer.failure = Failure::memory;
    transfer.reason = "memory ran out";
  } else if (has_too_large_headers(operation, code)) {
    transfer.failure = Failure::protocol;
    transfer.reason =
        "the headers are over the limits of libcurl, " + std::to_string(max_header_line) + " bytes a line";
  } else if (const int answer = tunnel_status(easy); code != CURLE_OK && answer >= 300) {
    transfer.failure = Failure::proxy;
    transfer.reason = "the proxy answered " + std::to_string(answer);
  } else if (transfer.dead_before_send) {
    transfer.failure = Failure::reset;
    transfer.reason = "the connection had been given up by the other side";
  } else if (operation.guarded && operation.sends > 1) {
    transfer.failure = Failure::reset;
    transfer.died_on_reuse = true;
    transfer.reason = "the connection died before an answer came";
  } else if (operation.head.ended() && operation.head.status() != transfer.status) {
    // libcurl takes a status line that it cannot read as one of 200.
    transfer.failure = Failure::protocol;
    transfer.status = 0;
    transfer.reason = "the status line is not one of HTTP";
  } else if (operation.head.is_contradictory() || has_bad_length(operation, code)) {
    transfer.failure = Failure::truncated;
    transfer.reason = "Content-Length is not one number, so the end of the answer is not known";
  } else if (code == CURLE_BAD_FUNCTION_ARGUMENT && transfer.sent) {
    // What libcurl 7.88 says of a header line that it cannot keep.
    transfer.failure = Failure::protocol;
    transfer.reason = "a header line is not one of HTTP";
  } else if (code == CURLE_OK && !operation.head.ended()) {
    // libcurl takes a status line for an answer, whatever becomes of the rest.
    transfer.failure = Failure::truncated;
    transfer.reason = "the connection ended within the headers";
  } else if (code == CURLE_OK && operation.head.is_chunked() && !operation.chunks.ended()) {
    transfer.failure = Failure::truncated;
    transfer.reason = "the connection ended within a chunk";
  } else if (code != CURLE_OK) {
    transfer.reason = operation.error[0] != '\0' ? operation.error.data() : curl_easy_strerror(code);
    if ((transfer.failure == Failure::handshake || transfer.failure == Failure::reset) &&
        refuses_certificate(transfer.reason)) {
      transfer.failure = Failure::certificate;
    } else if (transfer.reason.starts_with("Unsupported proxy")) {
      // One of the environment. libcurl shows its URL, with the password.
      transfer.failure = Failure::proxy;
      transfer.reason = "the environment names one that is not supported";
    }
  }
}

bool Engine::Impl::collect(Deadline until) {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* context = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
    auto* operation = static_cast<Operation*>(context);
    Transfer& transfer = operation->transfer;
    long status = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    transfer.status = static_cast<int>(status);
    transfer.head = std::move(operation->head.text());
    transfer.is_delimited = operation->head.frames_the_body();
    // libcurl 8.22 goes on to use a connection that nghttp2 has given up.
    if (breaks_connection(code) && operation->connection != nullptr) retire(*operation->connection);
    try {
      judge(*operation, code);
    } catch (const std::bad_alloc&) {  // libcurl says only once that a transfer has ended
      transfer.failure = Failure::memory;
      transfer.reason.clear();
    }
    end(operation);
    if (until && left > 0 && SteadyClock::now() >= *until) return false;
  }
  return true;
}

void Engine::Impl::check(CURLMcode code) const {
  if (code == CURLM_OK) return;
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(ErrorCode::internal, std::string("libcurl: ") + curl_multi_strerror(code));
}

bool Engine::drive(const std::function<bool()>& until, const std::function<bool()>& interrupt) {
  auto asked = interrupt ? SteadyClock::now() : SteadyClock::time_point();
  while (true) {
    int running = 0;
    impl_->check(curl_multi_perform(impl_->multi.get(), &running));
    impl_->collect();
    impl_->run_timers();
    if (until()) return true;
    if (interrupt && SteadyClock::now() - asked >= interrupt_interval) {
      if (interrupt()) {
        // An answer that has arrived meanwhile is read, so that the caller can say what became of a write.
        static_cast<void>(curl_multi_perform(impl_->multi.get(), &running));
        impl_->collect();
        return false;
      }
      asked = SteadyClock::now();
    }
    auto wait = interrupt_interval;
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

void Engine::Impl::run_timers() {
  if (timers.empty()) return;
  const auto now = SteadyClock::now();
  while (!timers.empty() && timers.begin()->first.first <= now) {
    const auto then = std::move(timers.begin()->second);
    timers.erase(timers.begin());
    then();
  }
}

void Engine::Impl::expire(Operation* operation) {
  auto& transfer = operation->transfer;
  transfer.failure = Failure::timeout;
  transfer.reason = transfer.sent ? "no answer in time" : "no connection was free in time";
  end(operation);
}

void Engine::Impl::make_readiness() {
  readiness = std::make_unique<Readiness>();
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETFUNCTION, &on_socket);
  curl_multi_setopt(multi.get(), CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERFUNCTION, &on_timer);
  curl_multi_setopt(multi.get(), CURLMOPT_TIMERDATA, &due);
}

void Engine::Impl::rearm() noexcept {
  if (readiness == nullptr) return;
  auto next = unfinished ? SteadyClock::now() : due;
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
  std::array<Readiness::Ready, 64> room;
  int running = 0;
  const auto until = SteadyClock::now() + slice;
  for (const auto& ready : impl_->readiness->poll(room)) {
    const int what = (ready.readable ? CURL_CSELECT_IN : 0) | (ready.writable ? CURL_CSELECT_OUT : 0) |
                     (ready.failed ? CURL_CSELECT_ERR : 0);
    impl_->note(curl_multi_socket_action(impl_->multi.get(), ready.socket, what, &running));
    if (SteadyClock::now() >= until) break;  // the others stay ready
  }
  if (impl_->due && *impl_->due <= SteadyClock::now()) {
    impl_->due.reset();
    impl_->note(curl_multi_socket_action(impl_->multi.get(), CURL_SOCKET_TIMEOUT, 0, &running));
  }
  if (impl_->unwatched) {
    impl_->note(curl_multi_perform(impl_->multi.get(), &running));
    impl_->unwatched = !impl_->operations.empty();
  }
  impl_->unfinished = !impl_->collect(until);
  // A deadline that passes while an answer waits here to be collected is not that answer's.
  if (!impl_->unfinished) impl_->run_timers();
  impl_->rearm();
}

void Engine::wake() noexcept {
  impl_->unfinished = true;
  impl_->rearm();
}

bool Engine::cancel(Operation* operation, std::int64_t* sent_at) noexcept {
  auto taken = impl_->take(operation, true);
  if (taken == nullptr) return false;
  const bool sent = taken->transfer.sent;
  if (sent && sent_at != nullptr) *sent_at = taken->transfer.sent_at;
  impl_->give_back(std::move(taken));
  return sent;
}

void Engine::drop(Operation* operation) noexcept {
  if (auto taken = impl_->take(operation, false)) impl_->give_back(std::move(taken));
}

unsigned libcurl_version() noexcept { return curl_version_info(CURLVERSION_NOW)->version_num; }

std::vector<std::string> own_trust() {
  std::vector<std::string> out;
  const auto* const info = curl_version_info(CURLVERSION_NOW);
  if (info->age >= CURLVERSION_SEVENTH && info->cainfo != nullptr) out.emplace_back(info->cainfo);
  return out;
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  const auto seconds = static_cast<std::int64_t>(curl_getdate(std::string(text).c_str(), nullptr));
  if (seconds < 0) return std::nullopt;
  return seconds;
}

std::optional<UrlParts> split_url(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (parsed == nullptr) throw std::bad_alloc();
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (code == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLUE_OK) return std::nullopt;
  const auto part = [&parsed](CURLUPart which) -> std::optional<std::string> {
    char* text = nullptr;
    const CURLUcode got = curl_url_get(parsed.get(), which, &text, 0);
    if (got == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (got != CURLUE_OK) return std::nullopt;
    const std::unique_ptr<char, void (*)(void*)> owned(text, curl_free);
    return std::string(text);
  };
  UrlParts parts;
  parts.scheme = part(CURLUPART_SCHEME).value_or("");
  parts.host = part(CURLUPART_HOST).value_or("");
  if (parts.host.starts_with('[')) parts.host = parts.host.substr(1, parts.host.size() - 2);
  parts.has_query = part(CURLUPART_QUERY).has_value();
  parts.has_fragment = part(CURLUPART_FRAGMENT).has_value();
  parts.has_credentials = part(CURLUPART_USER).has_value() || part(CURLUPART_PASSWORD).has_value();
  return parts;
}

}  // namespace billcore::detail
