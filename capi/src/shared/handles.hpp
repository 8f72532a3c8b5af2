// The handles of the webhook half. Both libraries make them and free them: they are of one build, and share one heap.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "billcore/event.hpp"
#include "billcore/model.hpp"
#include "billcore/webhook.h"
#include "billcore/webhook.hpp"

namespace billcore::capi {

/// The digits of a number that goes out as text: raw JSON has no NUL behind it, so a copy is kept with the handle. Made when first
/// asked for, by whichever thread comes first.
class Digits {
 public:
  Digits() = default;
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
  ~Digits() { delete kept_.load(); }

  [[nodiscard]] std::string_view of(std::string_view raw) const {
    const std::string* kept = kept_.load(std::memory_order_acquire);
    if (kept == nullptr) {
      auto made = std::make_unique<const std::string>(raw);
      if (kept_.compare_exchange_strong(kept, made.get(), std::memory_order_acq_rel)) kept = made.release();
    }
    return *kept;
  }

 private:
  mutable std::atomic<const std::string*> kept_{nullptr};
};

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
  explicit billcore_subscription(billcore::Subscription subscription) : view(std::move(subscription)) {}
  billcore::Subscription view;
  billcore::capi::Digits digits;
};

struct billcore_order {
  static constexpr const char* name = "billcore_order";
  explicit billcore_order(billcore::Order order) : view(std::move(order)) {}
  billcore::Order view;
  billcore::capi::Digits digits;
};

struct billcore_product {
  static constexpr const char* name = "billcore_product";
  explicit billcore_product(billcore::Product product) : view(std::move(product)) {}
  billcore::Product view;
  billcore::capi::Digits digits;
};

struct billcore_product_group {
  static constexpr const char* name = "billcore_product_group";
  explicit billcore_product_group(billcore::ProductGroup group) : view(std::move(group)) {}
  billcore::ProductGroup view;
};

struct billcore_event {
  static constexpr const char* name = "billcore_event";
  explicit billcore_event(billcore::Event event) : view(std::move(event)) {}
  billcore::Event view;
  billcore::capi::Digits digits;
};

struct billcore_verifier_options {
  static constexpr const char* name = "billcore_verifier_options";
  billcore::VerifierOptions options;
  bool any_key_length = false;
};

struct billcore_verifier {
  static constexpr const char* name = "billcore_verifier";
  explicit billcore_verifier(const billcore::Verifier& verifier) : view(verifier) {}
  billcore::Verifier view;
};

struct billcore_verifier_stream {
  static constexpr const char* name = "billcore_verifier_stream";
  explicit billcore_verifier_stream(billcore::VerifyStream stream) : view(std::move(stream)) {}
  billcore::VerifyStream view;
};
