// The table that the types of resource views are made from: every field, how it is read, whether it may be absent or null.
#pragma once

#include <array>
#include <span>

#include "shared/bridge.hpp"

namespace billcore::python {

/// How a field is read. A word is a text out of few.
enum class Kind { text, word, integer, boolean, id, time, decimal, object, any, view, views, integers };

struct Field {
  const char* name;
  Kind kind;
  bool nullable;
  const char* doc;
  View element = View::resource;  // of view and views
};

inline constexpr std::array subscription_fields{
    Field{"id", Kind::id, false, "Opaque id, str or int as received; compare with billcore.same_id()."},
    Field{"price", Kind::integer, false, "Cents."},
    Field{"vat", Kind::integer, false, "Basis points (2500 = 25 %)."},
    Field{"currency", Kind::word, false, "Currency code."},
    Field{"created_at", Kind::time, false, "Aware datetime."},
    Field{"renews_at", Kind::time, true, "Aware datetime, or None."},
    Field{"ends_at", Kind::time, true, "End of the current paid period once cancelled; aware datetime, or None."},
    Field{"trial_ends_at", Kind::time, true, "Aware datetime, or None."},
    Field{"reference_id", Kind::text, true, "Your own correlation value, or None."},
    Field{"reference_name", Kind::text, true, "Text, or None."},
    Field{"status", Kind::word, false, "A SubscriptionStatus, or a value this version does not know yet."},
    Field{"update_card_url", Kind::text, false, "Signed billing-portal URL: whoever has it acts for the customer."},
    Field{"invoices_url", Kind::text, false, "Signed billing-portal URL: whoever has it acts for the customer."},
    Field{"cancel_url", Kind::text, false, "Signed billing-portal URL: whoever has it acts for the customer."},
    Field{"custom_fields", Kind::views, false, "List of CustomFieldValue.", View::custom_field},
    Field{"metadata", Kind::object, false, "Free-form dict."},
};
inline constexpr std::array order_fields{
    Field{"id", Kind::id, false, "Opaque id, str or int as received; compare with billcore.same_id()."},
    Field{"created_at", Kind::time, false, "Aware datetime."},
    Field{"total", Kind::integer, false, "Cents, without VAT."},
    Field{"total_with_vat", Kind::integer, false, "Cents, with VAT."},
    Field{"currency", Kind::word, false, "Currency code."},
    Field{"reference_id", Kind::text, true, "Your own correlation value, or None."},
    Field{"reference_name", Kind::text, true, "Text, or None."},
    Field{"state", Kind::word, false, "An OrderState, or a value this version does not know yet."},
    Field{"remote_id", Kind::text, true, "The billing method's identifier of the payment, or None."},
    Field{"delivery", Kind::view, true, "What is delivered, or None.", View::delivery},
    Field{"custom_fields", Kind::views, false, "List of CustomFieldValue.", View::custom_field},
    Field{"metadata", Kind::object, false, "Free-form dict."},
};
inline constexpr std::array product_fields{
    Field{"id", Kind::integer, false, "Id."},
    Field{"name", Kind::text, false, "Name."},
    Field{"description", Kind::text, true, "Text, or None."},
    Field{"type", Kind::word, false, "Short name of the product type."},
    Field{"price", Kind::integer, false, "Cents; whether VAT is in it depends on the product."},
    Field{"price_with_vat", Kind::integer, false, "Cents."},
    Field{"price_without_vat", Kind::integer, false, "Cents."},
    Field{"currency", Kind::word, false, "Currency code."},
    Field{"vat_rate", Kind::decimal, false, "Percent, a decimal.Decimal with the digits received."},
    Field{"interval", Kind::word, true, "Text, or None."},
    Field{"image", Kind::text, true, "URL, or None."},
    Field{"images", Kind::views, false, "List of ProductImage.", View::product_image},
    Field{"use_cart", Kind::boolean, false, "bool."},
    Field{"stock_tracking", Kind::boolean, false, "bool."},
    Field{"out_of_stock", Kind::boolean, false, "bool."},
    Field{"strings", Kind::view, false, "Texts made for display.", View::product_strings},
};
inline constexpr std::array product_group_fields{
    Field{"id", Kind::integer, false, "Id."},
    Field{"name", Kind::text, false, "Name."},
    Field{"products", Kind::integers, false, "List of product ids."},
};
inline constexpr std::array custom_field_fields{
    Field{"id", Kind::integer, false, "Id."},
    Field{"label", Kind::text, false, "Label."},
    Field{"type", Kind::word, false, "Type."},
    Field{"value", Kind::any, false, "Any JSON value."},
};
inline constexpr std::array delivery_fields{Field{"link", Kind::text, false, "URL."}};
inline constexpr std::array product_image_fields{
    Field{"portrait", Kind::view, false, "ImageSource.", View::image_source},
    Field{"square", Kind::view, false, "ImageSource.", View::image_source},
};
inline constexpr std::array image_source_fields{Field{"src", Kind::text, false, "URL."}};
inline constexpr std::array product_strings_fields{
    Field{"interval", Kind::word, false, "Text."},
    Field{"type", Kind::word, false, "Text."},
    Field{"price", Kind::text, true, "Text, or None."},
    Field{"price_with_vat", Kind::text, true, "Text, or None."},
    Field{"price_without_vat", Kind::text, true, "Text, or None."},
};
inline constexpr std::array page_links_fields{
    Field{"next", Kind::text, true, "URL of the next page as received, or None. Never followed."},
    Field{"previous", Kind::text, true, "URL of the previous page as received, or None. Never followed."},
};

struct Type {
  const char* name;
  const char* doc;
  std::span<const Field> fields;
  std::array<const char*, 2> shown;  // members that repr() shows: never a URL
};

// In the order of View.
inline constexpr std::array types{
    Type{"billcore.Resource",
         "A read-only view of a JSON object the service sent; fields are looked up when asked.\n\n"
         "Attributes are typed: a nullable field that is absent or null is None; a required one that is absent raises\n"
         "MissingFieldError, which is an AttributeError, too, so that getattr() with a default, hasattr() and class\n"
         "patterns work; one that is null or of the wrong type raises DecodeError. Both have the path.\n"
         "r['field'] is the plain JSON value, `'field' in r` tells absent from null.\n"
         "Service interface: Resources and their fields.",
         {},
         {"id", nullptr}},
    Type{"billcore.Subscription",
         "A subscription. Service interface: Subscription.",
         subscription_fields,
         {"id", "status"}},
    Type{"billcore.Order", "An order. Service interface: Order.", order_fields, {"id", "state"}},
    Type{"billcore.Product", "A product. Service interface: Product.", product_fields, {"id", "name"}},
    Type{"billcore.ProductGroup",
         "A product group, seen only in events. Service interface: Product group.",
         product_group_fields,
         {"id", "name"}},
    Type{"billcore.CustomFieldValue",
         "A custom field. Service interface: CustomFieldValue.",
         custom_field_fields,
         {"id", "type"}},
    Type{"billcore.Delivery", "What is delivered with an order. Service interface: Order.", delivery_fields, {}},
    Type{"billcore.ProductImage", "An image of a product. Service interface: Product.", product_image_fields, {}},
    Type{"billcore.ImageSource",
         "One rendition of a product image. Service interface: Product.",
         image_source_fields,
         {}},
    Type{"billcore.ProductStrings", "Texts made for display. Service interface: Product.", product_strings_fields, {}},
    Type{"billcore.PageLinks", "Links of a page, as received. Service interface: Pagination.", page_links_fields, {}},
};

}  // namespace billcore::python
