#include "billcore/event.hpp"

#include <array>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"

namespace billcore {
namespace {

constexpr std::array<std::string_view, 12> names{"",
                                                 "subscription.created",
                                                 "subscription.updated",
                                                 "subscription.renewed",
                                                 "subscription.cancelled",
                                                 "order.confirmed",
                                                 "order.paid",
                                                 "product.updated",
                                                 "product.deleted",
                                                 "product-group.updated",
                                                 "product-group.deleted",
                                                 "test.hook"};

EventType type_of(const Value& envelope) noexcept {
  const detail::Node* name = detail::member(envelope.node(), "name");
  if (name == nullptr || detail::kind(name) != Value::Kind::string) return EventType::unknown;
  return event_type(detail::text(name));
}

}  // namespace

EventType event_type(std::string_view name) noexcept {
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<EventType>(i);
  }
  return EventType::unknown;
}

std::string_view to_string(EventType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names[index] : names[0];
}

Event::Event(Value envelope) : envelope_(std::move(envelope)), type_(type_of(envelope_)) {}

Event Event::parse(const Verified& verified, const std::shared_ptr<detail::DocumentPool>& pool) {
  return of(detail::Document::parse_copy(pool, verified.body()));
}

Event Event::parse(const Verified& verified, std::shared_ptr<const void> keep,
                   const std::shared_ptr<detail::DocumentPool>& pool) {
  return of(detail::Document::parse_in(pool, {verified.body(), std::move(keep)}));
}

Event Event::of(std::shared_ptr<const detail::Document> document) {
  const auto* root = document->root();
  Value envelope(std::move(document), root);
  if (!envelope.is_object()) {
    throw Error(ErrorCode::decode, std::string("the event is ") + detail::kind_name(envelope.kind()) +
                                       ", not an object: the body is not one of the service's events");
  }
  return Event(std::move(envelope));
}

Value Event::field(std::string_view name) const {
  auto found = envelope_.find(name);
  if (!found) throw detail::missing_field(envelope_.path(), name);
  return *std::move(found);
}

EventData Event::data() const {
  auto found = envelope_.find("data");
  if (!found || found->is_null()) return std::monostate{};
  if (!found->is_object()) return *std::move(found);
  switch (type_) {
    case EventType::subscription_created:
    case EventType::subscription_updated:
    case EventType::subscription_renewed:
    case EventType::subscription_cancelled:
      return Subscription(*std::move(found));
    case EventType::order_confirmed:
    case EventType::order_paid:
      return Order(*std::move(found));
    case EventType::product_updated:
    case EventType::product_deleted:
      return Product(*std::move(found));
    case EventType::product_group_updated:
    case EventType::product_group_deleted:
      return ProductGroup(*std::move(found));
    case EventType::test_hook:
    case EventType::unknown:
      break;
  }
  return Resource(*std::move(found));
}

std::string_view Event::raw() const noexcept { return envelope_.document()->text(); }

}  // namespace billcore
