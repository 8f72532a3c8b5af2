// Events of the service, received by webhook.
//
// An Event is created from verified bytes (Verifier, webhooks::unwrap). The only exception is
// webhooks::parse_unverified, for bytes that were verified earlier and stored.
// Ownership, threads and errors: see resource.hpp. Service interface: Events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "billcore/event_type.hpp"
#include "billcore/model.hpp"
#include "billcore/resource.hpp"

namespace billcore {

class Verifier;
class Event;
namespace detail {
class DocumentPool;
}
namespace webhooks {
[[nodiscard]] Event parse_unverified_shared(SharedText raw);
}

/// The type with this name, such as EventType::order_paid for "order.paid"; EventType::unknown for any other text.
[[nodiscard]] EventType event_type(std::string_view name) noexcept;
/// The name of a type, such as "order.paid"; "" for EventType::unknown.
[[nodiscard]] std::string_view to_string(EventType type) noexcept;

/// A body with a verified signature. Only a Verifier creates a Verified. A Verified borrows the body, which must
/// outlive the Verified.
class Verified {
 public:
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  /// Index of the matching secret (the first one if several match).
  [[nodiscard]] std::size_t secret_index() const noexcept { return secret_index_; }

 private:
  friend class Verifier;
  Verified(std::string_view body, std::size_t secret_index) noexcept : body_(body), secret_index_(secret_index) {}

  std::string_view body_;
  std::size_t secret_index_;
};

class Event {
 public:
  /// Delivery id, the key for dropping duplicates (except for test.hook, whose id is always 0). Opaque; compare with
  /// same_id().
  [[nodiscard]] Id id() const { return read_id(field("id")); }
  [[nodiscard]] std::string_view name() const { return field("name").text(); }
  /// The event's type, which depends only on the event's name; the data may still have another type or be absent.
  ///
  ///     switch (event.type()) {
  ///       case EventType::order_paid:
  ///         if (const auto order = event.data_as<Order>()) ship(order->id());
  ///         break;
  ///       default:
  ///         break;
  ///     }
  [[nodiscard]] EventType type() const noexcept { return type_; }
  /// Integer id of the account. Never compare this integer with the UUID in the base URL, which is another id of the
  /// account.
  [[nodiscard]] std::int64_t account() const { return field("account").integer(); }
  [[nodiscard]] Time created_at() const { return read_time(field("created_at")); }
  /// The event's data, as the type that belongs to the event's name. Data that is not an object is returned as a Value;
  /// for null or absent data the result is std::monostate.
  [[nodiscard]] EventData data() const;
  /// The data as T (a resource, such as Order), or nullopt if it has another type.
  template <typename T>
  [[nodiscard]] std::optional<T> data_as() const {
    auto all = data();
    if (auto* found = std::get_if<T>(&all)) return std::move(*found);
    return std::nullopt;
  }
  /// Throws Error(decode) if a receiver cannot store the event once under its account and id; the receiver then answers
  /// 400. `account` must be an integer. `name`, `id` and, if the data of a known event has one, the `id` in `data` must
  /// have 1 to 200 characters and no control character. Of a test.hook only the name is reliable, so require_claimable()
  /// accepts each test.hook.
  void require_claimable() const;
  /// The body as received.
  [[nodiscard]] std::string_view raw() const noexcept;
  /// The whole envelope as a JSON value.
  [[nodiscard]] const Value& value() const noexcept { return envelope_; }

 private:
  friend class Verifier;
  friend Event webhooks::parse_unverified_shared(SharedText raw);
  explicit Event(Value envelope);
  // Parses an event; throws Error(decode). The first overload copies the body, the second borrows the body and keeps
  // its owner `keep` alive.
  static Event parse(const Verified& verified, const std::shared_ptr<detail::DocumentPool>& pool);
  static Event parse(const Verified& verified, std::shared_ptr<const void> keep,
                     const std::shared_ptr<detail::DocumentPool>& pool);
  static Event of(std::shared_ptr<const detail::Document> document);
  [[nodiscard]] Value field(std::string_view name) const;

  Value envelope_;
  EventType type_;
};

}  // namespace billcore
