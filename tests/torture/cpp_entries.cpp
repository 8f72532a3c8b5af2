// Lists the scenarios of the program `torture`.
#include "scenario.hpp"

namespace torture {

std::vector<Entry> all_entries() {
  std::vector<Entry> all;
  for (const auto* some : {&webhook_scenarios(), &client_scenarios(), &async_scenarios()}) {
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

}  // namespace torture
