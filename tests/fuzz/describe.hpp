// Calls all typed getters of a resource and returns the results as one text.
#pragma once

#include <string>

#include "billcore/model.hpp"

namespace billcore::fuzz {

/// Returns one line for each getter: its name and its result, or the text of its Error(decode).
[[nodiscard]] std::string describe(const Subscription& resource);
[[nodiscard]] std::string describe(const Order& resource);
[[nodiscard]] std::string describe(const Product& resource);
[[nodiscard]] std::string describe(const ProductGroup& resource);

}  // namespace billcore::fuzz
