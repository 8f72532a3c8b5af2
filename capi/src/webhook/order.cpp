// Orders.
#include "billcore/order.h"

#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "shared/resource.hpp"

using billcore::Order;
using namespace billcore::capi;

billcore_status billcore_order_id(const billcore_order* order, billcore_str* text, bool* is_integer,
                                  billcore_error** err) {
  return get_id(order, text, is_integer, err);
}

billcore_status billcore_order_created_at(const billcore_order* order, billcore_str* text, int64_t* unix_micros,
                                          billcore_error** err) {
  return get_time(order, &Order::created_at, text, unix_micros, err);
}

billcore_status billcore_order_total(const billcore_order* order, int64_t* out, billcore_error** err) {
  return get(order, &Order::total, out, err);
}

billcore_status billcore_order_total_with_vat(const billcore_order* order, int64_t* out, billcore_error** err) {
  return get(order, &Order::total_with_vat, out, err);
}

billcore_status billcore_order_currency(const billcore_order* order, billcore_str* out, billcore_error** err) {
  return get(order, &Order::currency, out, err);
}

billcore_status billcore_order_reference_id(const billcore_order* order, billcore_str* out, bool* present,
                                            billcore_error** err) {
  return get(order, &Order::reference_id, out, present, err);
}

billcore_status billcore_order_reference_name(const billcore_order* order, billcore_str* out, bool* present,
                                              billcore_error** err) {
  return get(order, &Order::reference_name, out, present, err);
}

billcore_status billcore_order_state(const billcore_order* order, billcore_str* out, billcore_error** err) {
  return get(order, &Order::state, out, err);
}

billcore_status billcore_order_remote_id(const billcore_order* order, billcore_str* out, bool* present,
                                         billcore_error** err) {
  return get(order, &Order::remote_id, out, present, err);
}

billcore_status billcore_order_delivery_link(const billcore_order* order, billcore_str* out, bool* present,
                                             billcore_error** err) {
  return get(
      order,
      [](const Order& view) {
        const auto delivery = view.delivery();
        return delivery ? std::optional(delivery->link()) : std::nullopt;
      },
      out, present, err);
}

billcore_status billcore_order_custom_fields(const billcore_order* order, size_t* count, billcore_error** err) {
  return get_count(order, &Order::custom_fields, count, err);
}

billcore_status billcore_order_custom_field_at(const billcore_order* order, size_t index, billcore_custom_field** out,
                                               billcore_error** err) {
  return get_custom_field(order, index, out, err);
}

billcore_status billcore_order_metadata(const billcore_order* order, billcore_value** out, billcore_error** err) {
  return get_new(order, &Order::metadata, out, err);
}

billcore_status billcore_order_raw(const billcore_order* order, billcore_str* out, billcore_error** err) {
  return get(order, &Order::raw, out, err);
}

billcore_status billcore_order_value(const billcore_order* order, billcore_value** out, billcore_error** err) {
  return get_value(order, out, err);
}

billcore_status billcore_order_field(const billcore_order* order, billcore_str name, billcore_value** out,
                                     bool* present, billcore_error** err) {
  return get_field(order, name, out, present, err);
}

billcore_status billcore_order_contains(const billcore_order* order, billcore_str name, bool* out,
                                        billcore_error** err) {
  return get_contains(order, name, out, err);
}

billcore_status billcore_order_equal(const billcore_order* order, const billcore_order* other, bool* out,
                                     billcore_error** err) {
  return get_equal(order, other, out, err);
}

billcore_status billcore_order_response_info(const billcore_order* order, billcore_response_info** out, bool* present,
                                             billcore_error** err) {
  return get_info(order, out, present, err);
}

billcore_status billcore_order_copy(const billcore_order* order, billcore_order** out, billcore_error** err) {
  return get_copy(order, out, err);
}

void billcore_order_free(billcore_order* order) { delete order; }
