// Lists the scenarios of torture-c.
#include "abi.hpp"

namespace torture {

std::vector<Entry> all_entries() {
  std::vector<Entry> all;
  const auto add = [&](const std::vector<abi::Function>& functions, void (*prepare)(abi::Given&, const std::string&)) {
    for (const auto& function : functions) {
      const auto make = [&function, prepare](const Place& place) {
        return std::make_unique<abi::Call>(function.call, prepare, place);
      };
      const bool charges = function.name == "subscription_charge";
      all.push_back({function.name, make, charges, false});  // other scenarios cover failing system calls
    }
  };
  add(abi::webhook_functions(), [](abi::Given& given, const std::string&) { abi::prepare_webhook(given); });
  add(abi::client_functions(), &abi::prepare_client);
  all.insert(all.end(), abi::loop_scenarios().begin(), abi::loop_scenarios().end());
  return all;
}

}  // namespace torture
