#include "billcore/event.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

#include "base/text.hpp"
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

constexpr std::size_t longest_key = 200;  // characters

// Receivers store the text as a key. Databases refuse NUL, and the columns of keys have a bounded length.
void require_key(const Value& value, std::string_view text) {
  // In UTF-8, each character has one byte that is not a continuation byte (10xxxxxx).
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  const bool fits = characters > 0 && static_cast<std::size_t>(characters) <= longest_key;
  if (fits && std::none_of(text.begin(), text.end(), detail::is_control)) return;
  throw detail::value_error(
      ErrorCode::decode, value.path(),
      "is not 1 to " + std::to_string(longest_key) + " characters without control characters: answer 400");
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

void Event::require_claimable() const {
  if (type_ == EventType::test_hook) return;
  require_key(field("name"), name());
  const auto id_field = field("id");
  require_key(id_field, read_id(id_field).text());
  static_cast<void>(account());
  std::visit(
      [](const auto& found) {
        using Found = std::decay_t<decltype(found)>;
        // A plain Resource is the data of an unknown event, which may have any `id`.
        if constexpr (std::is_base_of_v<Resource, Found> && !std::is_same_v<Found, Resource>) {
          if (const auto inner = found.find("id")) require_key(*inner, read_id(*inner).text());
        }
      },
      data());
}

std::string_view Event::raw() const noexcept { return envelope_.document()->text(); }

}  // namespace billcore
