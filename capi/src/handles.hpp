// The handles of the webhook half. Both libraries make them and free them: they are of one build, and share one heap.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "billcore/event.hpp"
#include "billcore/model.hpp"
#include "billcore/webhook.h"
#include "billcore/webhook.hpp"

namespace billcore::capi {

/// The digits of a number that goes out as text: raw JSON has no NUL behind it. Empty unless it is a number.
inline std::string digits_of(const Value& owner, std::string_view field) {
  const auto found = owner.find(field);
  const bool number = found && (found->kind() == Value::Kind::integer || found->kind() == Value::Kind::real);
  return number ? std::string(found->raw()) : std::string();
}

}  // namespace billcore::capi

struct billcore_value {
  static constexpr const char* name = "billcore_value";
  explicit billcore_value(billcore::Value value) : view(std::move(value)) {}
  billcore::Value view;
};

struct billcore_value_iterator {
  static constexpr const char* name = "billcore_value_iterator";
  explicit billcore_value_iterator(billcore::Value value) : view(std::move(value)), next(view.begin()) {}
  billcore_value_iterator(const billcore_value_iterator&) = delete;  // `next` refers to `view`
  billcore_value_iterator& operator=(const billcore_value_iterator&) = delete;
  billcore::Value view;
  billcore::Value::Iterator next;
};

struct billcore_custom_field {
  static constexpr const char* name = "billcore_custom_field";
  explicit billcore_custom_field(billcore::CustomFieldValue field) : view(std::move(field)) {}
  billcore::CustomFieldValue view;
};

struct billcore_response_info {
  static constexpr const char* name = "billcore_response_info";
  explicit billcore_response_info(std::shared_ptr<const billcore::ResponseInfo> shared)
      : info(std::move(shared)), view(*info) {}
  std::shared_ptr<const billcore::ResponseInfo> info;
  const billcore::ResponseInfo& view;
};

struct billcore_subscription {
  static constexpr const char* name = "billcore_subscription";
  explicit billcore_subscription(billcore::Subscription subscription)
      : view(std::move(subscription)), digits(billcore::capi::digits_of(view.value(), "id")) {}
  billcore::Subscription view;
  std::string digits;
};

struct billcore_order {
  static constexpr const char* name = "billcore_order";
  explicit billcore_order(billcore::Order order)
      : view(std::move(order)), digits(billcore::capi::digits_of(view.value(), "id")) {}
  billcore::Order view;
  std::string digits;
};

struct billcore_product {
  static constexpr const char* name = "billcore_product";
  explicit billcore_product(billcore::Product product)
      : view(std::move(product)), digits(billcore::capi::digits_of(view.value(), "vat_rate")) {}
  billcore::Product view;
  std::string digits;
};

struct billcore_product_group {
  static constexpr const char* name = "billcore_product_group";
  explicit billcore_product_group(billcore::ProductGroup group) : view(std::move(group)) {}
  billcore::ProductGroup view;
};

struct billcore_event {
  static constexpr const char* name = "billcore_event";
  explicit billcore_event(billcore::Event event)
      : view(std::move(event)), digits(billcore::capi::digits_of(view.value(), "id")) {}
  billcore::Event view;
  std::string digits;
};

struct billcore_verifier_options {
  static constexpr const char* name = "billcore_verifier_options";
  billcore::VerifierOptions options;
  bool any_key_length = false;
};

struct billcore_verifier {
  static constexpr const char* name = "billcore_verifier";
  explicit billcore_verifier(billcore::Verifier verifier) : view(std::move(verifier)) {}
  billcore::Verifier view;
};
