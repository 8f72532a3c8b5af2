#include "describe.hpp"

#include <optional>
#include <string_view>
#include <vector>

#include "billcore/error.hpp"
#include "support.hpp"

namespace billcore::fuzz {
namespace {

std::string text_of(bool flag) { return flag ? "true" : "false"; }
std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(std::string_view text) {
  require(is_utf8(text), "a text is UTF-8");
  require(text.data()[text.size()] == '\0' || text.find_first_not_of("+-.0123456789eE") == std::string_view::npos,
          "a text ends with NUL");
  return std::string(text);
}
std::string text_of(const Id& id) { return (id.is_integer() ? "integer " : "text ") + id.text(); }
std::string text_of(const Time& time) {
  const auto again = parse_time(time.text);
  require(again && again->at.time_since_epoch().count() == time.at.time_since_epoch().count(),
          "a time is what its text says");
  return std::string(time.text) + " " + std::to_string(time.at.time_since_epoch().count()) + " " +
         (time.offset_minutes ? std::to_string(*time.offset_minutes) : "none");
}
std::string text_of(const Value& value) { return std::string(value.raw()); }

class Lines {
 public:
  explicit Lines(const Resource& resource, std::string prefix = {}) : resource_(resource), prefix_(std::move(prefix)) {}

  template <typename Get>
  void add(const char* name, Get get) {
    out_ += prefix_ + name + ": ";
    try {
      if constexpr (requires { get().has_value(); }) {
        const auto given = get();
        require(given || !resource_.find(name) || resource_.find(name)->is_null(),
                "only an absent or null field is empty");
        out_ += given ? text_of(*given) : "nothing";
      } else {
        out_ += text_of(get());
        require(resource_.contains(name), "a required field that is absent is an error");
      }
    } catch (const Error& error) {
      require_decode(error);
      require(error.message().find(name) != std::string::npos, "the error names the field");
      require((error.code() == ErrorCode::missing_field) == !resource_.contains(name),
              "an absent field is missing_field");
      out_ += error.message();
    }
    out_ += '\n';
  }

  // Adds a getter whose result has fields of its own, which `each` formats as lines.
  template <typename Get, typename Each>
  void add_views(const char* name, Get get, Each each) {
    try {
      out_ += each(get());
    } catch (const Error& error) {
      require_decode(error);
      out_ += prefix_ + name + ": " + error.message() + '\n';
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  const Resource& resource_;
  std::string prefix_;
  std::string out_;
};

std::string custom_fields(const std::vector<CustomFieldValue>& fields) {
  std::string out;
  for (const auto& field : fields) {
    Lines lines(field, " custom field ");
    lines.add("id", [&] { return field.id(); });
    lines.add("label", [&] { return field.label(); });
    lines.add("type", [&] { return field.type(); });
    lines.add("value", [&] { return field.field_value(); });
    require(field.copy() == field && field.copy().raw() == field.raw(), "a copied field is the same");
    out += lines.take();
  }
  return out;
}

std::string image_source(const ImageSource& source) {
  Lines lines(source, " image ");
  lines.add("src", [&] { return source.src(); });
  return lines.take();
}

std::string images(const std::vector<ProductImage>& all) {
  std::string out;
  for (const auto& image : all) {
    Lines lines(image, " image ");
    lines.add_views(
        "portrait", [&] { return image.portrait(); }, image_source);
    lines.add_views(
        "square", [&] { return image.square(); }, image_source);
    out += lines.take();
  }
  return out;
}

std::string strings(const ProductStrings& all) {
  Lines lines(all, " strings ");
  lines.add("interval", [&] { return all.interval(); });
  lines.add("type", [&] { return all.type(); });
  lines.add("price", [&] { return all.price(); });
  lines.add("price_with_vat", [&] { return all.price_with_vat(); });
  lines.add("price_without_vat", [&] { return all.price_without_vat(); });
  return lines.take();
}

}  // namespace

std::string describe(const Subscription& resource) {
  Lines lines(resource);
  lines.add("id", [&] { return resource.id(); });
  lines.add("price", [&] { return resource.price(); });
  lines.add("vat", [&] { return resource.vat(); });
  lines.add("currency", [&] { return resource.currency(); });
  lines.add("created_at", [&] { return resource.created_at(); });
  lines.add("renews_at", [&] { return resource.renews_at(); });
  lines.add("ends_at", [&] { return resource.ends_at(); });
  lines.add("trial_ends_at", [&] { return resource.trial_ends_at(); });
  lines.add("reference_id", [&] { return resource.reference_id(); });
  lines.add("reference_name", [&] { return resource.reference_name(); });
  lines.add("status", [&] { return resource.status(); });
  lines.add("update_card_url", [&] { return resource.update_card_url(); });
  lines.add("invoices_url", [&] { return resource.invoices_url(); });
  lines.add("cancel_url", [&] { return resource.cancel_url(); });
  lines.add("metadata", [&] { return resource.metadata(); });
  lines.add_views(
      "custom_fields", [&] { return resource.custom_fields(); }, custom_fields);
  const auto usable = [&resource](std::int64_t now) {
    return std::string(resource.usable_at(Instant(std::chrono::microseconds(now))) ? "usable\n" : "not\n");
  };
  for (const std::int64_t now : {INT64_MIN, std::int64_t{0}, std::int64_t{1'745'000'000'000'000}, INT64_MAX}) {
    lines.add_views(
        "usable_at", [now] { return now; }, usable);
  }
  return lines.take();
}

std::string describe(const Order& resource) {
  Lines lines(resource);
  lines.add("id", [&] { return resource.id(); });
  lines.add("created_at", [&] { return resource.created_at(); });
  lines.add("total", [&] { return resource.total(); });
  lines.add("total_with_vat", [&] { return resource.total_with_vat(); });
  lines.add("currency", [&] { return resource.currency(); });
  lines.add("reference_id", [&] { return resource.reference_id(); });
  lines.add("reference_name", [&] { return resource.reference_name(); });
  lines.add("state", [&] { return resource.state(); });
  lines.add("remote_id", [&] { return resource.remote_id(); });
  lines.add("metadata", [&] { return resource.metadata(); });
  lines.add_views(
      "custom_fields", [&] { return resource.custom_fields(); }, custom_fields);
  lines.add_views(
      "delivery", [&] { return resource.delivery(); },
      [](const std::optional<Delivery>& delivery) {
        if (!delivery) return std::string("delivery: nothing\n");
        Lines link(*delivery, " delivery ");
        link.add("link", [&] { return delivery->link(); });
        return link.take();
      });
  return lines.take();
}

std::string describe(const Product& resource) {
  Lines lines(resource);
  lines.add("id", [&] { return resource.id(); });
  lines.add("name", [&] { return resource.name(); });
  lines.add("description", [&] { return resource.description(); });
  lines.add("type", [&] { return resource.type(); });
  lines.add("price", [&] { return resource.price(); });
  lines.add("price_with_vat", [&] { return resource.price_with_vat(); });
  lines.add("price_without_vat", [&] { return resource.price_without_vat(); });
  lines.add("currency", [&] { return resource.currency(); });
  lines.add("vat_rate", [&] { return resource.vat_rate(); });
  lines.add("interval", [&] { return resource.interval(); });
  lines.add("image", [&] { return resource.image(); });
  lines.add("use_cart", [&] { return resource.use_cart(); });
  lines.add("stock_tracking", [&] { return resource.stock_tracking(); });
  lines.add("out_of_stock", [&] { return resource.out_of_stock(); });
  lines.add_views(
      "images", [&] { return resource.images(); }, images);
  lines.add_views(
      "strings", [&] { return resource.strings(); }, strings);
  return lines.take();
}

std::string describe(const ProductGroup& resource) {
  Lines lines(resource);
  lines.add("id", [&] { return resource.id(); });
  lines.add("name", [&] { return resource.name(); });
  lines.add_views(
      "products", [&] { return resource.products(); },
      [](const std::vector<std::int64_t>& ids) {
        std::string out = "products:";
        for (const auto id : ids) out += ' ' + std::to_string(id);
        return out + '\n';
      });
  return lines.take();
}

}  // namespace billcore::fuzz
