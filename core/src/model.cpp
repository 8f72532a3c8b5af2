#include "billcore/model.hpp"

#include "billcore/error.hpp"

namespace billcore {

Value CustomFieldValue::field_value() const {
  auto found = find("value");
  if (!found) throw Error(ErrorCode::decode, value().path() + ".value is absent");
  return *std::move(found);
}

bool Subscription::usable_at(std::int64_t unix_micros) const {
  const auto now = status();
  const auto ends = ends_at();
  if (ends && unix_micros >= ends->unix_micros) return false;
  if (now == subscription_status::cancelled) return ends.has_value();
  return now == subscription_status::active || now == subscription_status::trialing ||
         now == subscription_status::delayed;
}

std::optional<Delivery> Order::delivery() const {
  auto found = nullable_object("delivery");
  if (!found) return std::nullopt;
  return Delivery(*std::move(found));
}

std::vector<std::int64_t> ProductGroup::products() const {
  std::vector<std::int64_t> out;
  const Value ids = array("products");
  out.reserve(ids.size());
  for (const auto id : ids) out.push_back(id.value().integer());
  return out;
}

}  // namespace billcore
