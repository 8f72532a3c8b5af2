// The resources of the service: Subscription, Order, Product, ProductGroup and what they are made of.
//
// Ownership, threads and errors as in resource.hpp. Money is in minor units (cents), `vat` in basis points (2500 = 25
// %), vat_rate in percent. Service interface: Resources and their fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "billcore/resource.hpp"

namespace billcore {

/// A custom field; value() is any JSON. Service interface: CustomFieldValue.
class CustomFieldValue : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::int64_t id() const { return integer("id"); }
  [[nodiscard]] std::string_view label() const { return text("label"); }
  [[nodiscard]] std::string_view type() const { return text("type"); }
  /// The field's value: any JSON, null included. (Resource::value() is the whole object.)
  [[nodiscard]] Value field_value() const;
  [[nodiscard]] CustomFieldValue copy() const { return CustomFieldValue(detached()); }
};

/// Service interface: Subscription.
class Subscription : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] Id id() const { return id_field("id"); }
  [[nodiscard]] std::int64_t price() const { return integer("price"); }  // cents
  [[nodiscard]] std::int64_t vat() const { return integer("vat"); }      // basis points
  [[nodiscard]] std::string_view currency() const { return text("currency"); }
  [[nodiscard]] Time created_at() const { return time("created_at"); }
  [[nodiscard]] std::optional<Time> renews_at() const { return nullable_time("renews_at"); }
  /// End of the current paid period once cancelled.
  [[nodiscard]] std::optional<Time> ends_at() const { return nullable_time("ends_at"); }
  [[nodiscard]] std::optional<Time> trial_ends_at() const { return nullable_time("trial_ends_at"); }
  [[nodiscard]] std::optional<std::string_view> reference_id() const { return nullable_text("reference_id"); }
  [[nodiscard]] std::optional<std::string_view> reference_name() const { return nullable_text("reference_name"); }
  /// One of subscription_status, or a value this library does not know yet.
  [[nodiscard]] std::string_view status() const { return text("status"); }
  // Signed billing-portal URLs: who has one can act for the customer; do not log them.
  [[nodiscard]] std::string_view update_card_url() const { return text("update_card_url"); }
  [[nodiscard]] std::string_view invoices_url() const { return text("invoices_url"); }
  [[nodiscard]] std::string_view cancel_url() const { return text("cancel_url"); }
  [[nodiscard]] std::vector<CustomFieldValue> custom_fields() const {
    return objects<CustomFieldValue>("custom_fields");
  }
  [[nodiscard]] Value metadata() const { return object("metadata"); }

  /// Is the service still paid for at this instant (UTC microseconds)? False for pending, future_start, unpaid and
  /// expired. The others are usable until ends_at; null means no end, and that a cancelled one is not usable.
  /// Error(missing_field) where ends_at is needed and absent: a reduced payload cannot tell, get the subscription by its
  /// id. Error(decode) for a status this library does not know. Service interface: States and transitions.
  [[nodiscard]] bool usable_at(Instant when) const;
  [[nodiscard]] Subscription copy() const { return Subscription(detached()); }
};

namespace subscription_status {
inline constexpr std::string_view pending = "pending";
inline constexpr std::string_view future_start = "future_start";
inline constexpr std::string_view trialing = "trialing";
inline constexpr std::string_view active = "active";
inline constexpr std::string_view delayed = "delayed";
inline constexpr std::string_view unpaid = "unpaid";
inline constexpr std::string_view cancelled = "cancelled";
inline constexpr std::string_view expired = "expired";
}  // namespace subscription_status

/// What is delivered with an order. Service interface: Order.
class Delivery : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::string_view link() const { return text("link"); }
};

/// Service interface: Order.
class Order : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] Id id() const { return id_field("id"); }
  [[nodiscard]] Time created_at() const { return time("created_at"); }
  [[nodiscard]] std::int64_t total() const { return integer("total"); }                    // cents, without VAT
  [[nodiscard]] std::int64_t total_with_vat() const { return integer("total_with_vat"); }  // cents
  [[nodiscard]] std::string_view currency() const { return text("currency"); }
  [[nodiscard]] std::optional<std::string_view> reference_id() const { return nullable_text("reference_id"); }
  [[nodiscard]] std::optional<std::string_view> reference_name() const { return nullable_text("reference_name"); }
  /// One of order_state, or a value this library does not know yet.
  [[nodiscard]] std::string_view state() const { return text("state"); }
  /// The billing method's identifier of the payment.
  [[nodiscard]] std::optional<std::string_view> remote_id() const { return nullable_text("remote_id"); }
  [[nodiscard]] std::optional<Delivery> delivery() const;
  [[nodiscard]] std::vector<CustomFieldValue> custom_fields() const {
    return objects<CustomFieldValue>("custom_fields");
  }
  [[nodiscard]] Value metadata() const { return object("metadata"); }
  [[nodiscard]] Order copy() const { return Order(detached()); }
};

namespace order_state {
inline constexpr std::string_view created = "created";
inline constexpr std::string_view confirmed = "confirmed";
inline constexpr std::string_view payment_pending_user = "payment_pending_user";
inline constexpr std::string_view payment_pending = "payment_pending";
inline constexpr std::string_view payment_failed = "payment_failed";
inline constexpr std::string_view payment_cancelled = "payment_cancelled";
inline constexpr std::string_view payment_refunded = "payment_refunded";
inline constexpr std::string_view paid = "paid";
}  // namespace order_state

/// One rendition of a product image.
class ImageSource : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::string_view src() const { return text("src"); }
};

class ProductImage : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] ImageSource portrait() const { return ImageSource(object("portrait")); }
  [[nodiscard]] ImageSource square() const { return ImageSource(object("square")); }
};

/// Texts made for display.
class ProductStrings : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::string_view interval() const { return text("interval"); }
  [[nodiscard]] std::string_view type() const { return text("type"); }
  [[nodiscard]] std::optional<std::string_view> price() const { return nullable_text("price"); }
  [[nodiscard]] std::optional<std::string_view> price_with_vat() const { return nullable_text("price_with_vat"); }
  [[nodiscard]] std::optional<std::string_view> price_without_vat() const { return nullable_text("price_without_vat"); }
};

/// Service interface: Product.
class Product : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::int64_t id() const { return integer("id"); }
  [[nodiscard]] std::string_view name() const { return text("name"); }
  [[nodiscard]] std::optional<std::string_view> description() const { return nullable_text("description"); }
  [[nodiscard]] std::string_view type() const { return text("type"); }
  /// Cents; whether VAT is in it depends on the product.
  [[nodiscard]] std::int64_t price() const { return integer("price"); }
  [[nodiscard]] std::int64_t price_with_vat() const { return integer("price_with_vat"); }        // cents
  [[nodiscard]] std::int64_t price_without_vat() const { return integer("price_without_vat"); }  // cents
  [[nodiscard]] std::string_view currency() const { return text("currency"); }
  /// Percent, in the digits received ("25", "12.5"): a decimal, not a float.
  [[nodiscard]] std::string_view vat_rate() const { return number_text("vat_rate"); }
  [[nodiscard]] std::optional<std::string_view> interval() const { return nullable_text("interval"); }
  [[nodiscard]] std::optional<std::string_view> image() const { return nullable_text("image"); }
  [[nodiscard]] std::vector<ProductImage> images() const { return objects<ProductImage>("images"); }
  [[nodiscard]] bool use_cart() const { return boolean("use_cart"); }
  [[nodiscard]] bool stock_tracking() const { return boolean("stock_tracking"); }
  [[nodiscard]] bool out_of_stock() const { return boolean("out_of_stock"); }
  [[nodiscard]] ProductStrings strings() const { return ProductStrings(object("strings")); }
  [[nodiscard]] Product copy() const { return Product(detached()); }
};

/// Seen only in events. Service interface: Product group.
class ProductGroup : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::int64_t id() const { return integer("id"); }
  [[nodiscard]] std::string_view name() const { return text("name"); }
  /// Product ids.
  [[nodiscard]] std::vector<std::int64_t> products() const;
  [[nodiscard]] ProductGroup copy() const { return ProductGroup(detached()); }
};

}  // namespace billcore
