// Tests how options are validated and defaults are filled in before a request is sent.
#include "call/options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "billcore/error.hpp"
#include "http/libcurl.hpp"
#include "http/proxy.hpp"
#include "http/releases.hpp"
#include "http/streams.hpp"
#include "support/errors.hpp"

namespace billcore::detail {
namespace {

const auto nothing = [](const std::string&) { return false; };

ClientOptions options_for(std::string base_url, std::optional<std::string> proxy = {}) {
  ClientOptions options;
  options.base_url = std::move(base_url);
  options.api_key = "key";
  options.proxy = std::move(proxy);
  options.allow_insecure_http = true;
  return checked_options(std::move(options));
}

TEST(TransportOptions, CertificatesAreLookedForWhereTheyAreNeeded) {
  unsetenv("SSL_CERT_FILE");
  unsetenv("SSL_CERT_DIR");
  const std::string plain = "http://127.0.0.1:8080/a";
  for (const auto& options : {options_for(plain), options_for(plain, ""), options_for(plain, "http://127.0.0.1:1"),
                              options_for(plain, "socks5h://127.0.0.1:1"), options_for("HTTP://far.example/a")}) {
    const auto made = transport_options(options, nothing);
    EXPECT_FALSE(made.ca_file || made.ca_folder);
  }
  for (const auto& options : {options_for("https://far.example/a"), options_for("HTTPS://far.example/a", ""),
                              options_for(plain, "HTTPS://127.0.0.1:1")}) {
    EXPECT_THROW((void)transport_options(options, nothing), Error);
    EXPECT_TRUE(transport_options(options, [](const std::string&) { return true; }).ca_file);
  }
}

TEST(TransportOptions, Http2IsOfferedWhereFloodsAreWithstoodAndCutAnswersReported) {
  EXPECT_FALSE(is_flood_proof(0x075801));  // libcurl 7.88.1
  EXPECT_FALSE(is_flood_proof(0x080500));
  EXPECT_FALSE(is_flood_proof(0x080A00));
  EXPECT_TRUE(is_flood_proof(0x080A01));
  EXPECT_TRUE(is_flood_proof(0x090000));
  for (const unsigned cut : {0x075801U, 0x080001U, 0x080300U, 0x080A01U, 0x081600U, 0x090000U}) {
    EXPECT_FALSE(reports_cut_streams(cut)) << cut;
  }
  EXPECT_TRUE(reports_cut_streams(0x080102));
  EXPECT_TRUE(reports_cut_streams(0x080201));
  EXPECT_TRUE(hides_broken_connections(0x075801));
  EXPECT_TRUE(hides_broken_connections(0x080001));
  EXPECT_FALSE(hides_broken_connections(0x080102));
  const auto made = [](std::optional<bool> given) {
    ClientOptions options{.base_url = "http://127.0.0.1/acct", .api_key = "k", .http2 = given};
    return transport_options(options, nothing).http2;
  };
  EXPECT_EQ(made(std::nullopt), sees_streams);  // default: HTTP/2 only if the build notices truncated streams
  EXPECT_TRUE(made(true));
  EXPECT_FALSE(made(false));
}

TEST(TransportOptions, HandlesAreUsedAgainWhereLibcurlForgetsTheAnswerBefore) {
  EXPECT_TRUE(keeps_stale_header(0x075801));  // libcurl 7.88.1
  EXPECT_TRUE(keeps_stale_header(0x080100));
  EXPECT_FALSE(keeps_stale_header(0x080101));
  EXPECT_FALSE(keeps_stale_header(0x081600));
}

// Sets variables of the environment that name proxies, and unsets all others.
void set_proxies(const std::vector<std::pair<const char*, const char*>>& variables) {
  for (const char* name :
       {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}) {
    unsetenv(name);
  }
  for (const auto& [name, value] : variables) setenv(name, value, 1);
}

TEST(TransportOptions, TheProxyOfTheEnvironment) {
  const auto proxy_for = [](const char* base_url, std::optional<std::string> proxy = {}) {
    return transport_options(options_for(base_url, std::move(proxy)), [](const std::string&) { return true; }).proxy;
  };
  const char* far = "https://far.example/a";
  set_proxies({});
  EXPECT_EQ(proxy_for(far), "");
  set_proxies({{"https_proxy", ""}, {"HTTPS_PROXY", "p:1"}, {"ALL_PROXY", "socks://q:1"}, {"HTTP_PROXY", "http://r"}});
  EXPECT_EQ(proxy_for(far), "http://p:1");
  EXPECT_EQ(proxy_for("http://far.example/a"), "socks://q:1");
  EXPECT_EQ(proxy_for(far, "http://o:1"), "http://o:1");
  EXPECT_EQ(proxy_for(far, ""), "");
  EXPECT_EQ(proxy_for("http://localhost/a"), "");
  EXPECT_EQ(proxy_for("http://localhost/a", "http://p:1"), "http://p:1");
  set_proxies({});
}

// A part of the password would be taken for the name of the proxy's host, which libcurl's error texts show.
TEST(TransportOptions, AProxyMustBePercentEncoded) {
  const auto refused = [](const auto& action) {
    const auto error = test::error_of(action);
    EXPECT_EQ(error.code(), ErrorCode::config);
    EXPECT_EQ(error.message().find("SECRET"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("percent-encode"), std::string::npos) << error.message();
    return error.message();
  };
  const auto made = [] { return transport_options(options_for("http://far.example/a"), nothing).proxy; };
  for (const char* url :
       {"http://u:p@SECRET@p:1",   "http://u:p/SECRET@p:1",   "http://u:p?SECRET@p:1",   "http://u:p#SECRET@p:1",
        "http://u:p@SECRET/x@p:1", "http://u:p@SECRET?x@p:1", "http://u:p@SECRET#x@p:1", "http://u@SECRET/@p:1",
        "http:///u:SECRET@p:1",    "http://u:p@SECRET/x",     "http://u:p@SECRET#x",     "http://u:SECRET@",
        "http://u:SECRET",         "http://u:SECRET@p:99999", "http://u:SEC RET@p:1",    "http://u:%0ASECRET@p:1",
        "http://u%00SECRET@p:1",   "http:/u:p@SECRET",        "u:p://SECRET@p:1",        "ftp://u:SECRET@p:1",
        "://u:SECRET@p:1"}) {
    refused([&] { (void)options_for("http://far.example/a", url); });
    set_proxies({{"http_proxy", url}});
    EXPECT_TRUE(refused(made).starts_with("the environment variable http_proxy is not")) << url;
    // NO_PROXY may exempt the service from the proxy, so the client can be made.
    set_proxies({{"http_proxy", url}, {"NO_PROXY", "near.example"}});
    EXPECT_EQ(made(), unusable_proxy) << url;
  }
  set_proxies({});
  for (const char* url : {"http://u:p%40%2F%3F%23SECRET%25@p:1", "HTTP://u:p@p:1/", "socks5h://p", "https://u@[::1]:1",
                          "http://u:%7F!$&'()*+,;=:[]\\^`{|}~@p:1", "http://p/path"}) {
    EXPECT_EQ(
        transport_options(options_for("http://far.example/a", url), [](const std::string&) { return true; }).proxy,
        url);
  }
}

TEST(TransportOptions, TheOriginIsSplitOffWhereNoProxyWantsTheWholeUrl) {
  const auto origin = [](const char* base_url, std::optional<std::string> proxy = {}) {
    return transport_options(options_for(base_url, std::move(proxy)), [](const std::string&) { return true; }).origin;
  };
  EXPECT_EQ(origin("https://far.example/v1/a"), "https://far.example");
  EXPECT_EQ(origin("https://far.example:8443/a"), "https://far.example:8443");
  EXPECT_EQ(origin("https://far.example/a", "http://p:1"), "https://far.example");
  EXPECT_EQ(origin("http://[::1]:80/a"), "http://[::1]:80");
  EXPECT_EQ(origin("http://far.example/a", ""), "http://far.example");
  EXPECT_EQ(origin("http://far.example/a", "http://p:1"), "");
  EXPECT_EQ(origin("http://localhost/a", "http://p:1"), "");
}

TEST(ClientOptions, KindsOfKeys) {
  const std::string file = testing::TempDir() + "billcore_options_test_" + std::to_string(getpid()) + ".pem";
  const auto problem_of = [&file](const std::string& text) -> std::string {
    std::ofstream(file) << text;
    auto options = options_for("https://far.example/a");
    options.client_certificate = file;
    try {
      (void)checked_options(options);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      return error.message();
    }
  };
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
  const auto key = [](const std::string& kind, const std::string& more = "") {
    return "-----BEGIN " + kind + "PRIVATE KEY-----\n" + more + "AA==\n-----END " + kind + "PRIVATE KEY-----\n";
  };
  for (const char* kind : {"", "RSA ", "EC "}) {
    EXPECT_EQ(problem_of(certificate + key(kind)), "");
    EXPECT_EQ(problem_of(key(kind) + certificate + certificate), "");
  }
  for (const auto& locked : {key("ENCRYPTED "), key("EC ", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n")}) {
    EXPECT_NE(problem_of(certificate + locked).find("a key with a password"), std::string::npos);
  }
  std::remove(file.c_str());
}

}  // namespace
}  // namespace billcore::detail
