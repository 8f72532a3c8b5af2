// Owning handles for libcurl's objects. Only for files in http/ that use libcurl.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <new>
#include <string>

#include "billcore/error.hpp"

namespace billcore::detail {

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
using UrlHandle = std::unique_ptr<CURLU, FreeUrl>;

struct FreeMulti {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
using MultiHandle = std::unique_ptr<CURLM, FreeMulti>;

/// Sets an option of a handle. Throws std::bad_alloc, or Error(config) if libcurl rejects the option.
template <typename T>
void set(CURL* easy, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy, option, value);
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  if (code != CURLE_OK) {
    throw Error(ErrorCode::config, std::string("libcurl refused an option: ") + curl_easy_strerror(code));
  }
}

}  // namespace billcore::detail
