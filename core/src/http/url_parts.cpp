#include "http/url_parts.hpp"

#include <new>

#include "http/handles.hpp"

namespace billcore::detail {

std::optional<UrlParts> split_url(const std::string& url) {
  const UrlHandle parsed(curl_url());
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
  const auto decodes = [&parsed](CURLUPart which) {
    char* text = nullptr;
    const CURLUcode got = curl_url_get(parsed.get(), which, &text, CURLU_URLDECODE);
    curl_free(text);
    if (got == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
    return got != CURLUE_URLDECODE;
  };
  UrlParts parts;
  parts.scheme = part(CURLUPART_SCHEME).value_or("");
  parts.host = part(CURLUPART_HOST).value_or("");
  if (parts.host.starts_with('[')) parts.host = parts.host.substr(1, parts.host.size() - 2);
  parts.has_query = part(CURLUPART_QUERY).has_value();
  parts.has_fragment = part(CURLUPART_FRAGMENT).has_value();
  parts.has_credentials = part(CURLUPART_USER).has_value() || part(CURLUPART_PASSWORD).has_value();
  // libcurl 7.88 silently uses no proxy if the user name or password in the proxy's URL cannot be decoded.
  parts.credentials_decode = decodes(CURLUPART_USER) && decodes(CURLUPART_PASSWORD);
  return parts;
}

}  // namespace billcore::detail
