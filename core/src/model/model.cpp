#include "billcore/model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"

namespace billcore {
namespace {

constexpr std::array never_usable{subscription_status::pending, subscription_status::future_start,
                                  subscription_status::unpaid, subscription_status::expired};
constexpr std::array usable_until_end{subscription_status::trialing, subscription_status::active,
                                      subscription_status::delayed, subscription_status::cancelled};

template <std::size_t count>
bool is_one_of(std::string_view status, const std::array<std::string_view, count>& all) {
  return std::find(all.begin(), all.end(), status) != all.end();
}

}  // namespace

bool Subscription::usable_at(Instant when) const {
  const auto now = status();
  if (is_one_of(now, never_usable)) return false;
  if (!is_one_of(now, usable_until_end)) {
    throw detail::value_error(ErrorCode::decode, find("status")->path(),
                              "is not a status this version knows, so usable_at cannot tell: update billcore");
  }
  // Only `ends_at: null` means that the subscription has no end. An absent `ends_at` gives no information
  // about the end, because a reduced payload omits the field.
  if (!contains("ends_at")) {
    auto path = value().path();
    path += path.empty() ? "ends_at" : ".ends_at";
    throw detail::value_error(ErrorCode::missing_field, std::move(path),
                              "is absent, so usable_at cannot tell: get the subscription by its id");
  }
  const auto ends = ends_at();
  return ends ? when < ends->at : now != subscription_status::cancelled;
}

}  // namespace billcore
