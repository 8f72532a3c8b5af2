// The hooks of all client scenarios count open attempts, because each attempt for which on_request was called must also
// get on_response, whatever fails.
#pragma once

#include <memory>

#include "billcore/hooks.hpp"
#include "scenario.hpp"

namespace torture {

class CountingHooks final : public billcore::Hooks {
 public:
  void on_request(const billcore::Attempt& /*attempt*/) override { ++open_attempts; }
  void on_response(const billcore::Attempt& /*attempt*/) override { --open_attempts; }
};

/// Returns hooks that count attempts, without allocating.
inline std::shared_ptr<billcore::Hooks> counting_hooks() {
  static CountingHooks hooks;
  return {std::shared_ptr<void>(), &hooks};
}

}  // namespace torture
