// The table that the types of resource views are made from: every field, how it is read, whether it may be absent or null.
#pragma once

#include <array>
#include <span>

#include "shared/bridge.hpp"

namespace billcore::python {

/// How a field is read. A word is a text out of few.
enum class FieldKind { text, word, integer, boolean, id, time, decimal, object, any, view, views, integers };

struct Field {
  const char* name;
  FieldKind kind;
  bool nullable;
  const char* doc;
  View element = View::resource;  // of view and views
};

inline constexpr std::array subscription_fields{
    Field{"id", FieldKind::id, false, "Opaque id, str or int as received; compare with billcore.same_id()."},
    Field{"price", FieldKind::integer, false, "Cents."},
    Field{"vat", FieldKind::integer, false, "Basis points (2500 = 25 %)."},
    Field{"currency", FieldKind::word, false, "Currency code."},
    Field{"created_at", FieldKind::time, false, "Aware datetime."},
    Field{"renews_at", FieldKind::time, true, "Aware datetime, or None."},
    Field{"ends_at", FieldKind::time, true, "End of the current paid period once cancelled; aware datetime, or None."},
    Field{"trial_ends_at", FieldKind::time, true, "Aware datetime, or None."},
    Field{"reference_id", FieldKind::text, true, "Your own correlation value, or None."},
    Field{"reference_name", FieldKind::text, true, "Text, or None."},
    Field{"status", FieldKind::word, false, "A SubscriptionStatus, or a value this version does not know yet."},
    Field{"update_card_url", FieldKind::text, false,
          "Signed billing-portal URL: whoever has it acts for the customer."},
    Field{"invoices_url", FieldKind::text, false, "Signed billing-portal URL: whoever has it acts for the customer."},
    Field{"cancel_url", FieldKind::text, false, "Signed billing-portal URL: whoever has it acts for the customer."},
    Field{"custom_fields", FieldKind::views, false, "List of CustomFieldValue.", View::custom_field},
    Field{"metadata", FieldKind::object, false, "Free-form dict."},
};
inline constexpr std::array order_fields{
    Field{"id", FieldKind::id, false, "Opaque id, str or int as received; compare with billcore.same_id()."},
    Field{"created_at", FieldKind::time, false, "Aware datetime."},
    Field{"total", FieldKind::integer, false, "Cents, without VAT."},
    Field{"total_with_vat", FieldKind::integer, false, "Cents, with VAT."},
    Field{"currency", FieldKind::word, false, "Currency code."},
    Field{"reference_id", FieldKind::text, true, "Your own correlation value, or None."},
    Field{"reference_name", FieldKind::text, true, "Text, or None."},
    Field{"state", FieldKind::word, false, "An OrderState, or a value this version does not know yet."},
    Field{"remote_id", FieldKind::text, true, "The billing method's identifier of the payment, or None."},
    Field{"delivery", FieldKind::view, true, "What is delivered, or None.", View::delivery},
    Field{"custom_fields", FieldKind::views, false, "List of CustomFieldValue.", View::custom_field},
    Field{"metadata", FieldKind::object, false, "Free-form dict."},
};
inline constexpr std::array product_fields{
    Field{"id", FieldKind::integer, false, "Id."},
    Field{"name", FieldKind::text, false, "Name."},
    Field{"description", FieldKind::text, true, "Text, or None."},
    Field{"type", FieldKind::word, false, "Short name of the product type."},
    Field{"price", FieldKind::integer, false, "Cents; whether VAT is in it depends on the product."},
    Field{"price_with_vat", FieldKind::integer, false, "Cents."},
    Field{"price_without_vat", FieldKind::integer, false, "Cents."},
    Field{"currency", FieldKind::word, false, "Currency code."},
    Field{"vat_rate", FieldKind::decimal, false, "Percent, a decimal.Decimal with the digits received."},
    Field{"interval", FieldKind::word, true, "Text, or None."},
    Field{"image", FieldKind::text, true, "URL, or None."},
    Field{"images", FieldKind::views, false, "List of ProductImage.", View::product_image},
    Field{"use_cart", FieldKind::boolean, false, "bool."},
    Field{"stock_tracking", FieldKind::boolean, false, "bool."},
    Field{"out_of_stock", FieldKind::boolean, false, "bool."},
    Field{"strings", FieldKind::view, false, "Texts made for display.", View::product_strings},
};
inline constexpr std::array product_group_fields{
    Field{"id", FieldKind::integer, false, "Id."},
    Field{"name", FieldKind::text, false, "Name."},
    Field{"products", FieldKind::integers, false, "List of product ids."},
};
inline constexpr std::array custom_field_fields{
    Field{"id", FieldKind::integer, false, "Id."},
    Field{"label", FieldKind::text, false, "Label."},
    Field{"type", FieldKind::word, false, "Type."},
    Field{"value", FieldKind::any, false, "Any JSON value."},
};
inline constexpr std::array delivery_fields{Field{"link", FieldKind::text, false, "URL."}};
inline constexpr std::array product_image_fields{
    Field{"portrait", FieldKind::view, false, "ImageSource.", View::image_source},
    Field{"square", FieldKind::view, false, "ImageSource.", View::image_source},
};
inline constexpr std::array image_source_fields{Field{"src", FieldKind::text, false, "URL."}};
inline constexpr std::array product_strings_fields{
    Field{"interval", FieldKind::word, false, "Text."},
    Field{"type", FieldKind::word, false, "Text."},
    Field{"price", FieldKind::text, true, "Text, or None."},
    Field{"price_with_vat", FieldKind::text, true, "Text, or None."},
    Field{"price_without_vat", FieldKind::text, true, "Text, or None."},
};
inline constexpr std::array page_links_fields{
    Field{"next", FieldKind::text, true, "URL of the next page as received, or None. Never followed."},
    Field{"previous", FieldKind::text, true, "URL of the previous page as received, or None. Never followed."},
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
