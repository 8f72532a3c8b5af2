// Helpers for tests of AsyncClient: an event loop, and the result of an operation.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <optional>
#include <string>

#include "billcore/async_client.hpp"
#include "billcore/error.hpp"

namespace billcore::test {

inline constexpr int generous = 60'000;  // milliseconds

/// Calls process() each time the descriptor is readable, until `condition` is true.
inline void run_until(AsyncClient& client, const std::function<bool()>& condition) {
  while (!condition()) {
    pollfd watched{client.descriptor(), POLLIN, 0};
    if (poll(&watched, 1, generous) <= 0) {
      FAIL() << "the descriptor never became readable";
    }
    client.process();
  }
}

/// The result of a completed operation.
struct End {
  bool called = false;
  std::string id;
  int attempts = 0;
  std::optional<Error> error;

  AsyncClient::Done done() {
    return [this](Completed& completed) {
      EXPECT_FALSE(called) << "told twice";
      called = true;
      try {
        const auto value = completed.resource();
        id = std::string(value.find("id").value().text());
        attempts = Subscription(value).response_info()->attempts();
      } catch (const Error& caught) {
        error = caught;
      }
    };
  }
};

inline Operation get(const std::string& id) { return operations::subscriptions::get(Id(id)); }

// An operation whose URL is too long for libcurl, so it fails before it reaches the engine.
inline Operation impossible() { return operations::request("GET", "/" + std::string(9'000'000, 'a'), {}); }

}  // namespace billcore::test
