// Declares the tables of exported functions. Each row of a table has a function and a step that calls this function.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "abi.hpp"

namespace torture::abi {

struct Function {
  std::string_view name;
  void (*call)(Given&);
};

const std::vector<Function>& webhook_functions();
const std::vector<Function>& client_functions();
std::unique_ptr<Scenario> make_loop_charge(const Place& place);

/// A row of a table of functions: the function and its inputs. The inputs may use members of the Given `g`.
#define CALL(function, ...)                                                                   \
  {                                                                                           \
#function, []([[maybe_unused]] Given & g) { call(&function __VA_OPT__(, ) __VA_ARGS__); } \
  }

}  // namespace torture::abi
