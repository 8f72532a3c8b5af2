// error_of() returns the error that an action throws; if it throws none, the test fails.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "billcore/error.hpp"

namespace billcore::test {

template <typename Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::ok, ""};
}

}  // namespace billcore::test
