// Subscriptions.
#include "billcore/subscription.h"

#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "shared/resource.hpp"

using billcore::Subscription;
using namespace billcore::capi;

billcore_status billcore_subscription_id(const billcore_subscription* subscription, billcore_str* text,
                                         bool* is_integer, billcore_error** err) {
  return get_id(subscription, text, is_integer, err);
}

billcore_status billcore_subscription_price(const billcore_subscription* subscription, int64_t* out,
                                            billcore_error** err) {
  return get(subscription, &Subscription::price, out, err);
}

billcore_status billcore_subscription_vat(const billcore_subscription* subscription, int64_t* out,
                                          billcore_error** err) {
  return get(subscription, &Subscription::vat, out, err);
}

billcore_status billcore_subscription_currency(const billcore_subscription* subscription, billcore_str* out,
                                               billcore_error** err) {
  return get(subscription, &Subscription::currency, out, err);
}

billcore_status billcore_subscription_created_at(const billcore_subscription* subscription, billcore_str* text,
                                                 int64_t* unix_micros, billcore_error** err) {
  return get_time(subscription, &Subscription::created_at, text, unix_micros, err);
}

billcore_status billcore_subscription_renews_at(const billcore_subscription* subscription, billcore_str* text,
                                                int64_t* unix_micros, bool* present, billcore_error** err) {
  return get_time(subscription, &Subscription::renews_at, text, unix_micros, present, err);
}

billcore_status billcore_subscription_ends_at(const billcore_subscription* subscription, billcore_str* text,
                                              int64_t* unix_micros, bool* present, billcore_error** err) {
  return get_time(subscription, &Subscription::ends_at, text, unix_micros, present, err);
}

billcore_status billcore_subscription_trial_ends_at(const billcore_subscription* subscription, billcore_str* text,
                                                    int64_t* unix_micros, bool* present, billcore_error** err) {
  return get_time(subscription, &Subscription::trial_ends_at, text, unix_micros, present, err);
}

billcore_status billcore_subscription_reference_id(const billcore_subscription* subscription, billcore_str* out,
                                                   bool* present, billcore_error** err) {
  return get(subscription, &Subscription::reference_id, out, present, err);
}

billcore_status billcore_subscription_reference_name(const billcore_subscription* subscription, billcore_str* out,
                                                     bool* present, billcore_error** err) {
  return get(subscription, &Subscription::reference_name, out, present, err);
}

billcore_status billcore_subscription_status(const billcore_subscription* subscription, billcore_str* out,
                                             billcore_error** err) {
  return get(subscription, &Subscription::status, out, err);
}

billcore_status billcore_subscription_update_card_url(const billcore_subscription* subscription, billcore_str* out,
                                                      billcore_error** err) {
  return get(subscription, &Subscription::update_card_url, out, err);
}

billcore_status billcore_subscription_invoices_url(const billcore_subscription* subscription, billcore_str* out,
                                                   billcore_error** err) {
  return get(subscription, &Subscription::invoices_url, out, err);
}

billcore_status billcore_subscription_cancel_url(const billcore_subscription* subscription, billcore_str* out,
                                                 billcore_error** err) {
  return get(subscription, &Subscription::cancel_url, out, err);
}

billcore_status billcore_subscription_custom_fields(const billcore_subscription* subscription, size_t* count,
                                                    billcore_error** err) {
  return get_count(subscription, &Subscription::custom_fields, count, err);
}

billcore_status billcore_subscription_custom_field_at(const billcore_subscription* subscription, size_t index,
                                                      billcore_custom_field** out, billcore_error** err) {
  return get_custom_field(subscription, index, out, err);
}

billcore_status billcore_subscription_metadata(const billcore_subscription* subscription, billcore_value** out,
                                               billcore_error** err) {
  return get_new(subscription, &Subscription::metadata, out, err);
}

billcore_status billcore_subscription_usable_at(const billcore_subscription* subscription, int64_t unix_micros,
                                                bool* out, billcore_error** err) {
  return get(
      subscription, [&](const Subscription& view) { return view.usable_at(instant(unix_micros)); }, out, err);
}

billcore_status billcore_subscription_raw(const billcore_subscription* subscription, billcore_str* out,
                                          billcore_error** err) {
  return get(subscription, &Subscription::raw, out, err);
}

billcore_status billcore_subscription_value(const billcore_subscription* subscription, billcore_value** out,
                                            billcore_error** err) {
  return get_value(subscription, out, err);
}

billcore_status billcore_subscription_field(const billcore_subscription* subscription, billcore_str name,
                                            billcore_value** out, bool* present, billcore_error** err) {
  return get_field(subscription, name, out, present, err);
}

billcore_status billcore_subscription_contains(const billcore_subscription* subscription, billcore_str name, bool* out,
                                               billcore_error** err) {
  return get_contains(subscription, name, out, err);
}

billcore_status billcore_subscription_equal(const billcore_subscription* subscription,
                                            const billcore_subscription* other, bool* out, billcore_error** err) {
  return get_equal(subscription, other, out, err);
}

billcore_status billcore_subscription_response_info(const billcore_subscription* subscription,
                                                    billcore_response_info** out, bool* present, billcore_error** err) {
  return get_info(subscription, out, present, err);
}

billcore_status billcore_subscription_copy(const billcore_subscription* subscription, billcore_subscription** out,
                                           billcore_error** err) {
  return get_copy(subscription, out, err);
}

void billcore_subscription_free(billcore_subscription* subscription) { delete subscription; }
