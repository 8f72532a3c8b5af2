#include "billcore/event.hpp"

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "webhook/event_table.hpp"

namespace billcore {
namespace {

using detail::event_table;

EventType type_of(const Value& envelope) noexcept {
  const detail::Node* name = detail::member(envelope.node(), "name");
  if (name == nullptr || detail::kind(name) != Value::Kind::string) return EventType::unknown;
  return event_type(detail::text(name));
}

}  // namespace

EventType event_type(std::string_view name) noexcept {
  for (std::size_t i = 1; i < event_table.size(); ++i) {
    if (event_table[i].name == name) return static_cast<EventType>(i);
  }
  return EventType::unknown;
}

std::string_view to_string(EventType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < event_table.size() ? event_table[index].name : event_table[0].name;
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
  return event_table[static_cast<std::size_t>(type_)].data(*std::move(found));
}

std::string_view Event::raw() const noexcept { return envelope_.document()->text(); }

}  // namespace billcore
