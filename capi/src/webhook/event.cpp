// Events.
#include "billcore/event.h"

#include <array>
#include <string>
#include <type_traits>
#include <variant>

#include "billcore/event.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using billcore::Event;
using billcore::EventData;
using billcore::EventType;
using namespace billcore::capi;

namespace {

constexpr bool same(billcore_event_kind kind, EventType type) { return kind == static_cast<billcore_event_kind>(type); }

static_assert(same(BILLCORE_EVENT_UNKNOWN, EventType::unknown));
static_assert(same(BILLCORE_EVENT_SUBSCRIPTION_CREATED, EventType::subscription_created));
static_assert(same(BILLCORE_EVENT_SUBSCRIPTION_UPDATED, EventType::subscription_updated));
static_assert(same(BILLCORE_EVENT_SUBSCRIPTION_RENEWED, EventType::subscription_renewed));
static_assert(same(BILLCORE_EVENT_SUBSCRIPTION_CANCELLED, EventType::subscription_cancelled));
static_assert(same(BILLCORE_EVENT_ORDER_CONFIRMED, EventType::order_confirmed));
static_assert(same(BILLCORE_EVENT_ORDER_PAID, EventType::order_paid));
static_assert(same(BILLCORE_EVENT_PRODUCT_UPDATED, EventType::product_updated));
static_assert(same(BILLCORE_EVENT_PRODUCT_DELETED, EventType::product_deleted));
static_assert(same(BILLCORE_EVENT_PRODUCT_GROUP_UPDATED, EventType::product_group_updated));
static_assert(same(BILLCORE_EVENT_PRODUCT_GROUP_DELETED, EventType::product_group_deleted));
static_assert(same(BILLCORE_EVENT_TEST_HOOK, EventType::test_hook));

template <billcore_data_kind kind, typename T>
constexpr bool alternative = std::is_same_v<std::variant_alternative_t<kind, EventData>, T>;

static_assert(alternative<BILLCORE_DATA_NONE, std::monostate>);
static_assert(alternative<BILLCORE_DATA_SUBSCRIPTION, billcore::Subscription>);
static_assert(alternative<BILLCORE_DATA_ORDER, billcore::Order>);
static_assert(alternative<BILLCORE_DATA_PRODUCT, billcore::Product>);
static_assert(alternative<BILLCORE_DATA_PRODUCT_GROUP, billcore::ProductGroup>);
static_assert(alternative<BILLCORE_DATA_RESOURCE, billcore::Resource>);
static_assert(alternative<BILLCORE_DATA_VALUE, billcore::Value>);

constexpr std::array kinds{"null or absent",  "a subscription",    "an order",     "a product",
                           "a product group", "an untyped object", "not an object"};

/// The data as such a resource, or DECODE with what it is instead.
billcore::Resource data_as(const Event& event, std::size_t kind) {
  if (kind < BILLCORE_DATA_SUBSCRIPTION || kind > BILLCORE_DATA_RESOURCE) {
    refuse("kind must be one of BILLCORE_DATA_SUBSCRIPTION to BILLCORE_DATA_RESOURCE");
  }
  const auto data = event.data();
  if (data.index() == kind) {
    return std::visit(
        [&](const auto& found) {
          if constexpr (std::is_base_of_v<billcore::Resource, std::decay_t<decltype(found)>>) {
            return billcore::Resource(found);
          }
          return billcore::Resource(event.value());  // not reached
        },
        data);
  }
  throw billcore::Error(billcore::ErrorCode::decode, std::string("data is ") + kinds.at(data.index()) + ", not " +
                                                         kinds.at(kind) + ": look at the event's type first");
}

}  // namespace

billcore_status billcore_event_type(const billcore_event* event, billcore_event_kind* out, billcore_error** err) {
  return get(
      event, [](const Event& view) { return static_cast<billcore_event_kind>(view.type()); }, out, err);
}

billcore_status billcore_event_data_kind(const billcore_event* event, billcore_data_kind* out, billcore_error** err) {
  return get(
      event, [](const Event& view) { return static_cast<billcore_data_kind>(view.data().index()); }, out, err);
}

billcore_status billcore_event_data(const billcore_event* event, billcore_value** out, bool* present,
                                    billcore_error** err) {
  return get_new(
      event,
      [](const Event& view) {
        auto data = view.value().find("data");
        if (data && data->is_null()) data.reset();
        return data;
      },
      out, present, err);
}

billcore_status billcore_event_resource(const billcore_event* event, billcore_data_kind kind, billcore_resource** out,
                                        billcore_error** err) {
  return get_new(
      event, [&](const Event& view) { return data_as(view, static_cast<std::size_t>(kind)); }, out, err);
}

billcore_status billcore_event_raw(const billcore_event* event, billcore_str* out, billcore_error** err) {
  return get(event, &Event::raw, out, err);
}

void billcore_event_free(billcore_event* event) { delete event; }
