// Events.
#include "billcore/event.h"

#include <string>
#include <type_traits>
#include <variant>

#include "billcore/event.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "webhook/event_kinds.hpp"

using billcore::Event;
using namespace billcore::capi;

namespace {

/// The event's data as a resource of the kind `kind`. If the data is of another kind, throws Error(decode), which names
/// the actual kind.
billcore::Resource data_as(const Event& event, std::size_t kind) {
  if (kind >= data_words.size() || kind == BILLCORE_DATA_NONE || kind == BILLCORE_DATA_VALUE) {
    refuse("kind must be a BILLCORE_DATA_* other than _NONE and _VALUE");
  }
  const auto data = event.data();
  if (data.index() == kind) {
    return std::visit(
        [&](const auto& found) {
          if constexpr (std::is_base_of_v<billcore::Resource, std::decay_t<decltype(found)>>) {
            return billcore::Resource(found);
          }
          return billcore::Resource(event.value());  // unreachable
        },
        data);
  }
  throw billcore::Error(billcore::ErrorCode::decode, std::string("data is ") + data_words.at(data.index()) + ", not " +
                                                         data_words.at(kind) + ": look at the event's type first");
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

billcore_status billcore_event_require_claimable(const billcore_event* event, billcore_error** err) {
  return call(err, [&] { handle(event).view.require_claimable(); });
}

billcore_status billcore_event_raw(const billcore_event* event, billcore_str* out, billcore_error** err) {
  return get(event, &Event::raw, out, err);
}

void billcore_event_free(billcore_event* event) { delete event; }
