// Sets up libcurl handles for requests.
#include "http/request.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <type_traits>

#include "http/callbacks.hpp"
#include "http/in_flight.hpp"
#ifdef BILLCORE_TRACE
#include "http/trace.hpp"
#endif

namespace billcore::detail {
namespace {

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

void Engine::Impl::equip(InFlight& flight) {
  if (spare.empty()) return make_handle(flight);
  flight.easy = std::move(spare.back()->easy);
  flight.pattern = std::move(spare.back()->pattern);
  flight.handle_options = spare.back()->handle_options;
  spare.pop_back();
  set_callbacks(flight);
}

void Engine::Impl::make_handle(InFlight& flight) const {
  EasyHandle& made = reuses_handles ? flight.easy : flight.pattern;
  made.reset(curl_easy_init());
  CURL* const easy = made.get();
  if (easy == nullptr) throw std::bad_alloc();
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_NOPROGRESS, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);  // follow no redirects: libcurl would send the API key to the new URL
  set(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  // An empty text means no proxy. If the option were not set, libcurl would look for a proxy in the environment, and
  // its error texts would quote the URL that libcurl finds there.
  set(easy, CURLOPT_PROXY, options.proxy.c_str());
  // Without the option NOPROXY, libcurl would look up the variable NO_PROXY of the environment for every request.
  if (options.proxy.empty()) set(easy, CURLOPT_NOPROXY, "*");
  set(easy, CURLOPT_HTTP_TRANSFER_DECODING, 0L);    // ChunkedBody decodes the body, not libcurl
  set(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // the proxy's headers are not part of the answer
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_PROXY_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy, CURLOPT_MAXAGE_CONN, static_cast<long>(options.max_idle.count()));
  set(easy, CURLOPT_QUICK_EXIT, 1L);  // a hung resolver thread must not delay a call beyond its deadline
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::numeric_limits<std::int32_t>::max()));
  if (options.ca_file || options.ca_folder) {
    // Unset the option (file or folder) that is not given, otherwise libcurl's default would be trusted as well.
    set(easy, CURLOPT_CAINFO, options.ca_file ? options.ca_file->c_str() : nullptr);
    set(easy, CURLOPT_CAPATH, options.ca_folder ? options.ca_folder->c_str() : nullptr);
    set(easy, CURLOPT_PROXY_CAINFO, options.ca_file ? options.ca_file->c_str() : nullptr);
    set(easy, CURLOPT_PROXY_CAPATH, options.ca_folder ? options.ca_folder->c_str() : nullptr);
  }
  if (options.client_certificate) {
    set(easy, CURLOPT_SSLCERT, options.client_certificate->c_str());
    set(easy, CURLOPT_SSLKEY, options.client_certificate->c_str());
    set(easy, CURLOPT_KEYPASSWD, "");  // an empty password, so that OpenSSL does not ask for one
  }
  set_callbacks(flight);
#ifdef BILLCORE_TRACE
  trace_if_asked(easy);
#endif
}

namespace {

constexpr long http_1 = CURL_HTTP_VERSION_1_1;
constexpr long http_2 = CURL_HTTP_VERSION_2TLS;

// Sets an option of a handle, unless it has the value `wanted` already. now: the value that HandleOptions records.
template <typename T>
void change(CURL* easy, CURLoption option, T& now, T wanted) {
  if (now == wanted) return;
  if constexpr (std::is_pointer_v<T>) {
    set(easy, option, wanted);
  } else {
    set(easy, option, static_cast<long>(wanted));
  }
  now = wanted;
}

}  // namespace

// By default libcurl parses and reassembles the URL of each request, which is a fifth of libcurl's work per request. To
// avoid parsing every URL, the client parses the origin only once, and lets libcurl send the path and query as they
// are.
void Engine::Impl::set_address(InFlight& flight) const {
  CURL* const easy = flight.handle();
  const std::string& url = flight.request.url;
  if (origin != nullptr && url.starts_with(options.origin) && url[options.origin.size()] == '/') {
    change(easy, CURLOPT_CURLU, flight.handle_options.origin, origin.get());
    set(easy, CURLOPT_REQUEST_TARGET, url.c_str() + options.origin.size());
  } else {
    change<CURLU*>(easy, CURLOPT_CURLU, flight.handle_options.origin, nullptr);
    set<const char*>(easy, CURLOPT_REQUEST_TARGET, nullptr);
    set(easy, CURLOPT_URL, url.c_str());
  }
}

void Engine::Impl::prepare(InFlight& flight) const {
  CURL* const easy = flight.handle();
  const Request& request = flight.request;
  HandleOptions& now = flight.handle_options;
  set_address(flight);
  // With PIPEWAIT libcurl waits for a connection that is being set up instead of opening another one, because HTTP/2 may
  // serve both requests.
  const bool refused = options.http2_refused != nullptr && options.http2_refused->load(std::memory_order_relaxed);
  const bool http2 = options.http2 && !refused && request.url.starts_with("https:");
  change(easy, CURLOPT_HTTP_VERSION, now.http_version, http2 ? http_2 : http_1);
  change(easy, CURLOPT_PIPEWAIT, now.pipewait, http2 && options.streams > 1);
  change(easy, CURLOPT_FRESH_CONNECT, now.fresh, request.fresh);
  change(easy, CURLOPT_FORBID_REUSE, now.forbid_reuse, false);
  const auto& headers = *request.headers->lists_;
  const curl_slist* lines = headers.plain.get();
  const bool has_body = request.body && !request.body->empty();
  if (has_body || request.method == "POST") {
    lines = has_body ? headers.with_json.get() : headers.without_body.get();
    change(easy, CURLOPT_POST, now.post, true);  // first, because CURLOPT_POSTFIELDS implies it
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(has_body ? request.body->size() : 0));
    set(easy, CURLOPT_POSTFIELDS, has_body ? request.body->data() : "");
  } else if (now.post) {
    set(easy, CURLOPT_HTTPGET, 1L);
    now.post = false;
  }
  change(easy, CURLOPT_HTTPHEADER, now.headers, lines);
  const bool other = request.method != "GET" && request.method != "POST";
  if (other || now.other_method) set(easy, CURLOPT_CUSTOMREQUEST, other ? request.method.c_str() : nullptr);
  now.other_method = other;

  long timeout = 0;  // no time-out
  if (request.deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*request.deadline - SteadyClock::now()).count();
    timeout = static_cast<long>(std::clamp<std::int64_t>(left, 1, std::numeric_limits<std::int32_t>::max()));
  }
  change(easy, CURLOPT_TIMEOUT_MS, now.timeout, timeout);
  if (reuses_handles) return;
  flight.easy.reset(curl_easy_duphandle(easy));
  if (flight.easy == nullptr) throw std::bad_alloc();
}

}  // namespace billcore::detail
