// The operations by their names.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "client/arguments.hpp"
#include "client/handles.hpp"

namespace billcore::capi {

struct OperationRow {
  std::string_view name;
  billcore_result_kind result;
  std::span<const Argument> arguments;
  Operation (*make)(const Arguments& given);  // nullptr for a list
  std::unique_ptr<billcore_list> (*list)(const Client& client, const Arguments& given, const CallOptions& call);
};

/// The operations that are not written by hand.
extern const std::span<const OperationRow> generated_operations;

}  // namespace billcore::capi
