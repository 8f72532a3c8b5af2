// Tests where trusted certificates are loaded from.
#include "http/trust.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace billcore {
namespace {

using test::error_of;

TEST(Trust, GivenThenEnvironmentThenTheUsualPlaces) {
  const auto there = [](std::vector<std::string> paths) {
    return [paths](const std::string& path) { return std::find(paths.begin(), paths.end(), path) != paths.end(); };
  };
  const auto found = detail::find_trust("/given.pem", "/env.pem", "/env.d", {}, there({}));
  EXPECT_EQ(found.file, "/given.pem");
  EXPECT_FALSE(found.folder);

  const auto both = detail::find_trust({}, "/env.pem", "/env.d", {"/own.pem"}, there({"/env.pem", "/own.pem"}));
  EXPECT_EQ(both.file, "/env.pem");
  EXPECT_EQ(both.folder, "/env.d");
  EXPECT_EQ(detail::find_trust({}, nullptr, "/a:/b", {}, there({})).folder, "/a:/b");
  EXPECT_EQ(error_of([&] { (void)detail::find_trust({}, "/env.pem", nullptr, {}, there({})); }).code(),
            ErrorCode::config);
  EXPECT_EQ(error_of([&] { (void)detail::find_trust({}, "", "/env.d", {}, there({})); }).code(), ErrorCode::config);

  EXPECT_EQ(detail::find_trust({}, "", "", {"/own.pem"}, there({"/own.pem", "/etc/ssl/cert.pem"})).file, "/own.pem");
  EXPECT_EQ(detail::find_trust({}, nullptr, nullptr, {"/own.pem"}, there({"/etc/ssl/cert.pem"})).file,
            "/etc/ssl/cert.pem");
  const auto none = error_of([&] { (void)detail::find_trust({}, nullptr, nullptr, {"/own.pem"}, there({})); });
  EXPECT_EQ(none.code(), ErrorCode::config);
  for (const char* place : {"/own.pem", "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"}) {
    EXPECT_NE(none.message().find(place), std::string::npos) << none.message();
  }
}

}  // namespace
}  // namespace billcore
