#include "read_path.hpp"

#include <charconv>
#include <map>
#include <stdexcept>

#include "billcore/error.hpp"
#include "billcore/webhook.hpp"
#include "json_text.hpp"

namespace billcore::test {
namespace {

// The part of a dotted path that has not been followed yet.
struct Path {
  std::string_view rest;

  [[nodiscard]] bool empty() const { return rest.empty(); }
  std::string_view step() {
    const auto dot = rest.find('.');
    const auto head = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    return head;
  }
  std::size_t index() {
    const auto text = step();
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
};

std::string json(std::int64_t number) { return std::to_string(number); }
std::string json(bool flag) { return flag ? "true" : "false"; }
std::string json(std::string_view text) { return quoted(text); }
std::string json(const std::optional<std::string_view>& text) { return quoted_or_null(text); }
std::string json(const Value& value) { return std::string(value.raw()); }
std::string json(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> items;
  for (const auto number : numbers) items.push_back(std::to_string(number));
  return array_of(items);
}
std::string json(const Id& id) {
  return "{\"id\":" + quoted(id.text()) + ",\"is_integer\":" + (id.is_integer() ? "true}" : "false}");
}
std::string json(const Time& time) {
  return "{\"text\":" + quoted(time.text) + ",\"unix_micros\":" + std::to_string(time.at.time_since_epoch().count()) +
         '}';
}
std::string json(const std::optional<Time>& time) { return time ? json(*time) : "null"; }

template <typename T>
std::string resource(const T& view, Path path);

// Reads a list of views and returns JSON. An empty path selects the whole list; otherwise the path begins with the
// index of an element.
template <typename T>
std::string listed(const Resource& owner, std::string_view field, const std::vector<T>& views, Path path) {
  if (path.empty()) return json(owner.find(field).value());
  return resource(views.at(path.index()), path);
}

template <typename T>
using Getter = std::string (*)(const T&, Path);
template <typename T>
using Getters = std::map<std::string_view, Getter<T>>;

#define FIELD(name)                                           \
  {                                                           \
#name, [](const auto& r, Path) { return json(r.name()); } \
  }

const Getters<CustomFieldValue>& getters(const CustomFieldValue&) {
  static const Getters<CustomFieldValue> all{
      FIELD(id), FIELD(label), FIELD(type), {"value", [](const auto& r, Path) { return json(r.field_value()); }}};
  return all;
}
const Getters<Delivery>& getters(const Delivery&) {
  static const Getters<Delivery> all{FIELD(link)};
  return all;
}
const Getters<ImageSource>& getters(const ImageSource&) {
  static const Getters<ImageSource> all{FIELD(src)};
  return all;
}
const Getters<ProductImage>& getters(const ProductImage&) {
  static const Getters<ProductImage> all{{"portrait", [](const auto& r, Path p) { return resource(r.portrait(), p); }},
                                         {"square", [](const auto& r, Path p) { return resource(r.square(), p); }}};
  return all;
}
const Getters<ProductStrings>& getters(const ProductStrings&) {
  static const Getters<ProductStrings> all{FIELD(interval), FIELD(type), FIELD(price), FIELD(price_with_vat),
                                           FIELD(price_without_vat)};
  return all;
}
const Getters<Subscription>& getters(const Subscription&) {
  static const Getters<Subscription> all{
      FIELD(id),
      FIELD(price),
      FIELD(vat),
      FIELD(currency),
      FIELD(created_at),
      FIELD(renews_at),
      FIELD(ends_at),
      FIELD(trial_ends_at),
      FIELD(reference_id),
      FIELD(reference_name),
      FIELD(status),
      FIELD(update_card_url),
      FIELD(invoices_url),
      FIELD(cancel_url),
      FIELD(metadata),
      {"custom_fields", [](const auto& r, Path p) { return listed(r, "custom_fields", r.custom_fields(), p); }}};
  return all;
}
const Getters<Order>& getters(const Order&) {
  static const Getters<Order> all{
      FIELD(id),
      FIELD(created_at),
      FIELD(total),
      FIELD(total_with_vat),
      FIELD(currency),
      FIELD(reference_id),
      FIELD(reference_name),
      FIELD(state),
      FIELD(remote_id),
      FIELD(metadata),
      {"delivery", [](const auto& r, Path p) { return r.delivery() ? resource(*r.delivery(), p) : "null"; }},
      {"custom_fields", [](const auto& r, Path p) { return listed(r, "custom_fields", r.custom_fields(), p); }}};
  return all;
}
const Getters<Product>& getters(const Product&) {
  static const Getters<Product> all{
      FIELD(id),
      FIELD(name),
      FIELD(description),
      FIELD(type),
      FIELD(price),
      FIELD(price_with_vat),
      FIELD(price_without_vat),
      FIELD(currency),
      FIELD(vat_rate),
      FIELD(interval),
      FIELD(image),
      FIELD(use_cart),
      FIELD(stock_tracking),
      FIELD(out_of_stock),
      {"images", [](const auto& r, Path p) { return listed(r, "images", r.images(), p); }},
      {"strings", [](const auto& r, Path p) { return resource(r.strings(), p); }}};
  return all;
}
const Getters<ProductGroup>& getters(const ProductGroup&) {
  static const Getters<ProductGroup> all{FIELD(id), FIELD(name), FIELD(products)};
  return all;
}
const Getters<Resource>& getters(const Resource&) {
  static const Getters<Resource> none;
  return none;
}

template <typename T>
std::string resource(const T& view, Path path) {
  if (path.empty()) return json(view.value());
  const auto field = path.step();
  const auto& all = getters(view);
  if (const auto getter = all.find(field); getter != all.end()) return getter->second(view, path);
  const auto found = view.find(field);
  return found ? json(*found) : "null";
}

std::string data_type(const EventData& data) {
  static constexpr std::array<const char*, 7> names{
      "null", "\"Subscription\"", "\"Order\"", "\"Product\"", "\"ProductGroup\"", "\"Resource\"", "\"Value\""};
  return names.at(data.index());
}

std::string data_path(const Event& event, Path path) {
  const auto data = event.data();
  return std::visit(
      [&path](const auto& view) -> std::string {
        using T = std::decay_t<decltype(view)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return "null";
        else if constexpr (std::is_same_v<T, Value>)
          return json(view);
        else
          return resource(view, path);
      },
      data);
}

std::string read(const Event& event, std::string_view path) {
  if (path == "id") return json(event.id());
  if (path == "name") return json(event.name());
  if (path == "account") return json(event.account());
  if (path == "created_at") return json(event.created_at());
  if (path == "data_type") return data_type(event.data());
  if (path == "raw:data") return quoted(event.value().find("data").value().raw());
  if (path.starts_with("has:data.")) {
    return json(event.value().find("data").value().find(path.substr(9)).has_value());
  }
  Path rest{path};
  if (rest.step() != "data") throw std::runtime_error("unknown path " + std::string(path));
  return data_path(event, rest);
}

}  // namespace

const char* class_of(ErrorCode code) { return error_code_table.at(static_cast<std::size_t>(code)).python_class; }

std::string read_path(const Event& event, std::string_view path) {
  try {
    return read(event, path);
  } catch (const Error& error) {
    return std::string("{\"error\":{\"class\":\"") + class_of(error.code()) + "\",\"message\":" + quoted(error.what()) +
           "}}";
  }
}

}  // namespace billcore::test
