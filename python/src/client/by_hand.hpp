// The operations that are not generated, and the check of keyword arguments.
#pragma once

#include <pybind11/pybind11.h>

#include <span>

#include "call/bound_client.hpp"
#include "client/arguments.hpp"

namespace billcore::python {

/// Raises TypeError for a keyword that is not a field of the interface: the service would silently ignore a typo.
void require_known(const char* function, const py::dict& more, std::span<const char* const> names);

namespace by_hand {

[[nodiscard]] py::object subscriptions_find_charges(const BoundClient& self,
                                                    const arguments::SubscriptionsFindCharges& from);
/// `more` has the keyword arguments that match no parameter.
[[nodiscard]] py::object products_update(const BoundClient& self, const arguments::ProductsUpdate& from,
                                         const py::dict& more);

}  // namespace by_hand

}  // namespace billcore::python
