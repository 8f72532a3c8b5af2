// Resources of every kind, and information about the answers that contained them.
#include "billcore/resource.h"

#include <optional>
#include <string_view>

#include "billcore/detail/document.hpp"
#include "billcore/subscription.h"
#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "shared/headers.hpp"

using billcore::Resource;
using billcore::ResponseInfo;
using billcore::Value;
using namespace billcore::capi;

namespace {

/// The name of a field of `owner`, and whether the field may be null or absent.
struct Place {
  const Reader& owner;
  std::string_view name;
  bool is_nullable;

  /// Reads a required field with the function `required`, and a nullable field with the function `nullable`, which
  /// returns an optional. Returns false when the field is null or absent.
  template <typename Required, typename Nullable, typename Put>
  bool read(Required required, Nullable nullable, Put put_value) const {
    if (!is_nullable) {
      put_value(required(owner, name));
      return true;
    }
    auto found = nullable(owner, name);
    if (!found) return false;
    put_value(*std::move(found));
    return true;
  }
};

// Removes a `?` at the end of a name; returns whether there was one.
bool strip_mark(std::string_view& step) noexcept {
  if (!step.ends_with('?')) return false;
  step.remove_suffix(1);
  return true;
}

/// Reads the field at a path such as "total", "reference_id?" or "/delivery?/link". Returns false when the field is
/// null or absent.
template <typename Read>
bool read_at(const Reader& owner, std::string_view path, Read read) {
  if (path.starts_with('/')) [[unlikely]] {
    path.remove_prefix(1);
    if (const auto end = path.find('/'); end != std::string_view::npos) {
      auto step = path.substr(0, end);
      if (!strip_mark(step)) return read_at(Reader(owner.object(step)), path.substr(end), read);
      auto next = owner.nullable_object(step);
      return next && read_at(Reader(*std::move(next)), path.substr(end), read);
    }
  }
  const bool is_nullable = strip_mark(path);
  return read(Place{owner, path, is_nullable});
}

template <typename Read, typename... Outputs>
billcore_status read_field(const billcore_resource* resource, billcore_str name, bool* present, billcore_error** err,
                           Read read, Outputs... outputs) noexcept {
  return call(
      err,
      [&] {
        const auto& self = handle(resource);
        const auto path = view(name);
        const bool may_be_absent =
            path.ends_with('?') || (path.starts_with('/') && path.find('?') != std::string_view::npos);
        if (may_be_absent) require_output(present);
        const bool is_there = read_at(self.view, path, read);
        if (present != nullptr) *present = is_there;
      },
      outputs..., Maybe<bool>{present});
}

// Readers that return the field's value without converting it.
std::optional<Value> nullable_value(const Reader& owner, std::string_view name) { return owner.nullable(name); }
Value required_value(const Reader& owner, std::string_view name) { return owner.required(name); }

/// Reads a list field; lists are always required, so a name with a `?` is refused.
template <typename Read, typename... Outputs>
billcore_status read_list(const billcore_resource* resource, billcore_str name, billcore_error** err, Read read,
                          Outputs... outputs) noexcept {
  return call(
      err,
      [&] {
        const auto& self = handle(resource);
        const auto path = view(name);
        if (path.find('?') != std::string_view::npos) refuse("name: a list cannot be absent, so it has no '?'");
        read_at(self.view, path, [&](const Place& place) {
          read(place.owner, place.name);
          return true;
        });
      },
      outputs...);
}

}  // namespace

void billcore_resource_free(billcore_resource* resource) { delete resource; }

billcore_status billcore_resource_text(const billcore_resource* resource, billcore_str name, billcore_str* out,
                                       bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read([](const Reader& owner, std::string_view field) { return owner.text(field); },
                          [](const Reader& owner, std::string_view field) { return owner.nullable_text(field); },
                          [&](std::string_view text) { put(out, text); });
      },
      out);
}

billcore_status billcore_resource_int64(const billcore_resource* resource, billcore_str name, int64_t* out,
                                        bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read([](const Reader& owner, std::string_view field) { return owner.integer(field); },
                          [](const Reader& owner, std::string_view field) {
                            const auto found = owner.nullable(field);
                            return found ? std::optional(found->integer()) : std::nullopt;
                          },
                          [&](std::int64_t number) { put(out, number); });
      },
      out);
}

billcore_status billcore_resource_bool(const billcore_resource* resource, billcore_str name, bool* out, bool* present,
                                       billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read(required_value, nullable_value, [&](const Value& value) { put(out, value.boolean()); });
      },
      out);
}

billcore_status billcore_resource_time(const billcore_resource* resource, billcore_str name, billcore_str* text,
                                       int64_t* unix_micros, bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read([](const Reader& owner, std::string_view field) { return owner.time(field); },
                          [](const Reader& owner, std::string_view field) { return owner.nullable_time(field); },
                          [&](const billcore::Time& time) { put_time(text, unix_micros, time); });
      },
      Maybe<billcore_str>{text}, Maybe<std::int64_t>{unix_micros});
}

billcore_status billcore_resource_number(const billcore_resource* resource, billcore_str name, billcore_str* out,
                                         bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read(required_value, nullable_value, [&](const Value& value) {
          put(out, resource->digits.of(value, billcore::read_number_text));
        });
      },
      out);
}

billcore_status billcore_resource_id(const billcore_resource* resource, billcore_str name, billcore_str* text,
                                     bool* is_integer, bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        std::string_view string;  // as in Resource, no Value is made for most ids
        const auto& owner = place.owner.value();
        if (owner.document()->text_member(owner.node(), place.name, string)) {
          put(text, string);
          if (is_integer != nullptr) *is_integer = false;
          return true;
        }
        return place.read(required_value, nullable_value, [&](const Value& value) {
          put(text, resource->digits.of(value, [](const Value& number) { return billcore::read_id(number).text(); }));
          if (is_integer != nullptr) *is_integer = true;
        });
      },
      text, Maybe<bool>{is_integer});
}

billcore_status billcore_resource_object(const billcore_resource* resource, billcore_str name, billcore_value** out,
                                         bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read([](const Reader& owner, std::string_view field) { return owner.object(field); },
                          [](const Reader& owner, std::string_view field) { return owner.nullable_object(field); },
                          [&](Value value) { put_new(out, std::move(value)); });
      },
      out);
}

billcore_status billcore_resource_any(const billcore_resource* resource, billcore_str name, billcore_value** out,
                                      bool* present, billcore_error** err) {
  return read_field(
      resource, name, present, err,
      [&](const Place& place) {
        return place.read([](const Reader& owner, std::string_view field) { return owner.any(field); }, nullable_value,
                          [&](Value value) { put_new(out, std::move(value)); });
      },
      out);
}

billcore_status billcore_resource_list_count(const billcore_resource* resource, billcore_str name, size_t* out,
                                             billcore_error** err) {
  return read_list(
      resource, name, err,
      [&](const Reader& owner, std::string_view field) { *out = owner.objects<Resource>(field).size(); }, out);
}

billcore_status billcore_resource_list_at(const billcore_resource* resource, billcore_str name, size_t index,
                                          billcore_resource** out, billcore_error** err) {
  return read_list(
      resource, name, err,
      [&](const Reader& owner, std::string_view field) {
        put_new(out, item_at(owner.objects<Resource>(field), index));
      },
      out);
}

billcore_status billcore_resource_integers_count(const billcore_resource* resource, billcore_str name, size_t* out,
                                                 billcore_error** err) {
  return read_list(
      resource, name, err, [&](const Reader& owner, std::string_view field) { *out = owner.integers(field).size(); },
      out);
}

billcore_status billcore_resource_integer_at(const billcore_resource* resource, billcore_str name, size_t index,
                                             int64_t* out, billcore_error** err) {
  return read_list(
      resource, name, err,
      [&](const Reader& owner, std::string_view field) { put(out, item_at(owner.integers(field), index)); }, out);
}

billcore_status billcore_resource_raw(const billcore_resource* resource, billcore_str* out, billcore_error** err) {
  return get(resource, &Resource::raw, out, err);
}

billcore_status billcore_resource_value(const billcore_resource* resource, billcore_value** out, billcore_error** err) {
  return get_new(
      resource, [](const Reader& view) -> const Value& { return view.value(); }, out, err);
}

billcore_status billcore_resource_field(const billcore_resource* resource, billcore_str name, billcore_value** out,
                                        bool* present, billcore_error** err) {
  return get_new(
      resource, [&](const Reader& self) { return self.find(view(name)); }, out, present, err);
}

billcore_status billcore_resource_contains(const billcore_resource* resource, billcore_str name, bool* out,
                                           billcore_error** err) {
  return get(
      resource, [&](const Reader& self) { return self.contains(view(name)); }, out, err);
}

billcore_status billcore_resource_equal(const billcore_resource* resource, const billcore_resource* other, bool* out,
                                        billcore_error** err) {
  return get(
      resource, [&](const Resource& self) { return self == static_cast<const Resource&>(handle(other).view); }, out,
      err);
}

billcore_status billcore_resource_copy(const billcore_resource* resource, billcore_resource** out,
                                       billcore_error** err) {
  return get_new(
      resource, [](const Reader& self) { return Resource(self.detached()); }, out, err);
}

billcore_status billcore_resource_response_info(const billcore_resource* resource, billcore_response_info** out,
                                                bool* present, billcore_error** err) {
  return call(
      err,
      [&] {
        const auto& info = handle(resource).view.response_info();
        if (info == nullptr) return;
        put_new(out, info);
        *present = true;
      },
      out, present);
}

billcore_status billcore_subscription_usable_at(const billcore_subscription* subscription, int64_t unix_micros,
                                                bool* out, billcore_error** err) {
  return get(
      reinterpret_cast<const billcore_resource*>(subscription),
      [&](const Reader& self) { return billcore::Subscription(self.value()).usable_at(instant(unix_micros)); }, out,
      err);
}

void billcore_response_info_free(billcore_response_info* info) { delete info; }

billcore_status billcore_response_info_status(const billcore_response_info* info, int32_t* out, billcore_error** err) {
  return get(info, &ResponseInfo::status, out, err);
}

billcore_status billcore_response_info_attempts(const billcore_response_info* info, int32_t* out,
                                                billcore_error** err) {
  return get(info, &ResponseInfo::attempts, out, err);
}

billcore_status billcore_response_info_sent_late(const billcore_response_info* info, bool* out, billcore_error** err) {
  return get(info, &ResponseInfo::sent_late, out, err);
}

billcore_status billcore_response_info_request_id(const billcore_response_info* info, billcore_str* out,
                                                  billcore_error** err) {
  return get(info, &ResponseInfo::request_id, out, err);
}

billcore_status billcore_response_info_header_count(const billcore_response_info* info, size_t* count,
                                                    billcore_error** err) {
  return get_count(info, &ResponseInfo::headers, count, err);
}

billcore_status billcore_response_info_header_at(const billcore_response_info* info, size_t index, billcore_str* name,
                                                 billcore_str* value, billcore_error** err) {
  return get_header_at(info, &ResponseInfo::headers, index, name, value, err);
}

billcore_status billcore_response_info_header(const billcore_response_info* info, billcore_str name, billcore_str* out,
                                              bool* present, billcore_error** err) {
  return get_header(info, &ResponseInfo::headers, name, out, present, err);
}
