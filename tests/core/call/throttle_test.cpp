#include "call/throttle.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace billcore::detail {
namespace {

using namespace std::chrono_literals;

TEST(Throttle, HoldsEverybodyButThoseWhoCannotWait) {
  Throttle throttle;
  const auto now = SteadyClock::now();
  EXPECT_EQ(throttle.wait(now, std::nullopt), 0ms);
  throttle.hold_until(now + 2s);
  throttle.hold_until(now + 1s);
  EXPECT_EQ(throttle.wait(now, std::nullopt), 2s);
  EXPECT_EQ(throttle.wait(now, now + 5s), 2s);
  EXPECT_EQ(throttle.wait(now, now + 1s), 0ms);
  EXPECT_EQ(throttle.wait(now + 3s, std::nullopt), 0ms);
}

}  // namespace
}  // namespace billcore::detail
