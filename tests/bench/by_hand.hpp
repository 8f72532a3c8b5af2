// Makes a GET with only libcurl and yyjson, to measure the minimal cost of a GET.
#pragma once

#include <curl/curl.h>
#include <yyjson.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "turns.hpp"

namespace by_hand {

inline void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

/// A libcurl handle with all options set once, except the URL.
class Handle {
 public:
  explicit Handle(const turns::Server& server);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] CURL* easy() const { return easy_; }
  [[nodiscard]] std::string& body() { return body_; }
  void set_url(const std::string& url) { curl_easy_setopt(easy_, CURLOPT_URL, url.c_str()); }
  void perform();

 private:
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  std::string body_;
};

/// A libcurl multi handle, which runs several transfers concurrently.
class Multi {
 public:
  Multi(const turns::Server& server, int handles);
  ~Multi();
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;

  [[nodiscard]] std::vector<std::unique_ptr<Handle>>& handles() { return handles_; }

  /// prepare(handle, i): called before transfer i of `count`. use(body): called after each transfer, in the order in
  /// which the transfers end.
  template <typename Prepare, typename Use>
  void drive(std::size_t count, Prepare prepare, Use use) {
    std::size_t started = 0;
    std::size_t finished = 0;
    const auto start = [&](Handle& handle) {
      prepare(handle, started++);
      handle.body().clear();
      require(curl_multi_add_handle(multi_, handle.easy()) == CURLM_OK, "curl_multi_add_handle failed");
    };
    for (const auto& handle : handles_) {
      if (started < count) start(*handle);
    }
    while (finished < count) {
      int left = 0;
      require(curl_multi_perform(multi_, &left) == CURLM_OK, "curl_multi_perform failed");
      while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
        require(message->data.result == CURLE_OK, "a transfer failed");
        Handle* handle = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &handle);
        curl_multi_remove_handle(multi_, handle->easy());
        use(handle->body());
        ++finished;
        if (started < count) start(*handle);
      }
      if (finished < count) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
  }

 private:
  CURLM* multi_;
  std::vector<std::unique_ptr<Handle>> handles_;
};

using Document = std::unique_ptr<yyjson_doc, void (*)(yyjson_doc*)>;

inline Document parse(const std::string& body) { return {yyjson_read(body.data(), body.size(), 0), yyjson_doc_free}; }

inline std::string_view text(yyjson_val* object, const char* name) {
  yyjson_val* value = yyjson_obj_get(object, name);
  require(yyjson_is_str(value), "the answer lacks a text");
  return {yyjson_get_str(value), yyjson_get_len(value)};
}

inline std::size_t number(yyjson_val* object, const char* name) {
  yyjson_val* value = yyjson_obj_get(object, name);
  require(yyjson_is_uint(value), "the answer lacks a number");
  return yyjson_get_uint(value);
}

}  // namespace by_hand
