// The searches for charges, from their arguments in C.
#pragma once

#include <chrono>
#include <cstdint>

#include "billcore/charges.hpp"
#include "client/handles.hpp"
#include "shared/convert.hpp"

namespace billcore::capi {

inline ChargeSearch search_of(const billcore_error* charge, const billcore_charge_search* search) {
  if (charge == nullptr || !charge->error) refuse("the error of the charge is missing: pass it, or use _since");
  const auto given = options_of(search);
  return operations::find_charges(*charge->error, given.skew.value_or(std::chrono::minutes(5)), given.product_id);
}

inline ChargeSearch search_since(billcore_str id, std::int64_t unix_micros, const billcore_charge_search* search) {
  const auto given = options_of(search);
  if (given.skew) refuse("skew_ms goes with the error of a charge: pass an earlier moment");
  return operations::find_charges(Id(view(id)), instant(unix_micros), given.product_id);
}

}  // namespace billcore::capi
