#include "by_hand.hpp"

namespace by_hand {
namespace {

std::size_t append(char* data, std::size_t size, std::size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

}  // namespace

Handle::Handle(const turns::Server& server) : easy_(curl_easy_init()) {
  require(easy_ != nullptr, "curl_easy_init failed");
  for (const auto& header : {"X-API-KEY: " + std::string(turns::api_key), std::string("Accept: application/json")}) {
    headers_ = curl_slist_append(headers_, header.c_str());
  }
  if (!server.ca_file.empty()) curl_easy_setopt(easy_, CURLOPT_CAINFO, server.ca_file.c_str());
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, "libcurl/7.88.1 (by hand)");  // same length as billcore's User-Agent
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &body_);
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
}

Handle::~Handle() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(headers_);
}

void Handle::perform() {
  body_.clear();
  require(curl_easy_perform(easy_) == CURLE_OK, "curl_easy_perform failed");
}

Multi::Multi(const turns::Server& server, int handles) : multi_(curl_multi_init()) {
  require(multi_ != nullptr, "curl_multi_init failed");
  // By default libcurl keeps four connections per running handle. Near the end of a run, when few handles still run,
  // libcurl would close connections that the next run needs.
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(handles));
  for (int i = 0; i < handles; ++i) handles_.push_back(std::make_unique<Handle>(server));
}

Multi::~Multi() {
  handles_.clear();
  curl_multi_cleanup(multi_);
}

}  // namespace by_hand
