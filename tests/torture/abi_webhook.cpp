// The scenarios that call the functions of libbillcore-webhook.
#include "abi.hpp"

namespace torture::abi {
namespace {

constexpr std::string_view secret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view body =
    R"({"id":1,"name":"subscription.updated","account":7,"created_at":"2026-01-02T03:04:05Z","data":{)"
    R"("id":"a rather long id, for the heap","price":1,"status":"active","use_cart":true,"vat_rate":12.5,)"
    R"("created_at":"2026-01-02T03:04:05Z","ends_at":null,"products":[5],"custom_fields":[{"label":"a"}],)"
    R"("metadata":{"a text, for the heap as well \u00e6":[1,2.5,true]}}})";

billcore_status find(const billcore_value* value, const char* name, billcore_value** out, billcore_error** err) {
  bool present = false;
  return billcore_value_find(value, billcore_str_from(name), out, &present, err);
}
/// Returns element `index` of the array in the metadata.
Owned<billcore_value> item(const Given& g, std::size_t index) {
  const auto metadata = make(&find, g.value, "metadata");
  const auto array = make(&find, metadata, "a text, for the heap as well æ");
  return make(&billcore_value_at, array, index);
}

#define VALUE(function, index)                                    \
  {                                                               \
#function, [](Given & g) { call(&function, item(g, index)); } \
  }
#define FIELD(function, name) CALL(function, g.resource, text(name))

}  // namespace

void prepare_webhook(Given& g) {
  auto signature = std::get<0>(outputs_of(&billcore_webhook_sign, text(body), text(secret)));
  g.signature.assign(signature.data, signature.len);
  billcore_buf_free(&signature);
  g.event = make(&billcore_webhook_parse_unverified, text(body));
  g.resource = make(&billcore_event_resource, g.event, BILLCORE_DATA_SUBSCRIPTION);
  g.value = make(&billcore_resource_value, g.resource);
  g.iterator = make(&billcore_value_iterator_new, g.value);
  g.verifier_options = make(&billcore_verifier_options_new);
  g.verifier = make(&billcore_verifier_new, text(secret), nullptr);
  g.stream = make(&billcore_verifier_stream_new, g.verifier);
  g.headers = make(&billcore_headers_new);
  call(&billcore_headers_add, g.headers, text("Service-Signature"), text(g.signature));
}

const std::vector<Function>& webhook_functions() {
  static const std::vector<Function> functions{
      CALL(billcore_event_data, g.event),
      CALL(billcore_event_data_kind, g.event),
      CALL(billcore_event_raw, g.event),
      CALL(billcore_event_require_claimable, g.event),
      CALL(billcore_event_resource, g.event, BILLCORE_DATA_SUBSCRIPTION),
      CALL(billcore_event_type, g.event),
      CALL(billcore_headers_add, g.headers, text("a name, for the heap as well"),
           text("a value, for the heap as well")),
      CALL(billcore_headers_new),
      FIELD(billcore_resource_any, "metadata?"),
      FIELD(billcore_resource_bool, "use_cart?"),
      FIELD(billcore_resource_contains, "a name that is long enough for the heap"),
      CALL(billcore_resource_copy, g.resource),
      CALL(billcore_resource_equal, g.resource, g.resource),
      FIELD(billcore_resource_field, "metadata"),
      FIELD(billcore_resource_id, "id"),
      FIELD(billcore_resource_int64, "price"),
      CALL(billcore_resource_integer_at, g.resource, text("products"), std::size_t{0}),
      FIELD(billcore_resource_integers_count, "products"),
      CALL(billcore_resource_list_at, g.resource, text("custom_fields"), std::size_t{0}),
      FIELD(billcore_resource_list_count, "custom_fields"),
      FIELD(billcore_resource_number, "vat_rate"),
      FIELD(billcore_resource_object, "metadata"),
      CALL(billcore_resource_raw, g.resource),
      FIELD(billcore_resource_text, "/metadata/absent?"),
      FIELD(billcore_resource_time, "created_at"),
      CALL(billcore_resource_value, g.resource),
      {"billcore_subscription_usable_at",
       [](Given& g) {
         const auto made = make(&billcore_event_subscription, g.event);
         call(&billcore_subscription_usable_at, made, std::int64_t{0});
       }},
      VALUE(billcore_value_boolean, 2),
      CALL(billcore_value_copy, g.value),
      CALL(billcore_value_count, g.value),
      CALL(billcore_value_equal, g.value, g.value),
      CALL(billcore_value_find, g.value, text("metadata")),
      VALUE(billcore_value_integer, 0),
      {"billcore_value_at", [](Given& g) { static_cast<void>(item(g, 0)); }},
      CALL(billcore_value_iterator_new, g.value),
      CALL(billcore_value_iterator_next, g.iterator),
      CALL(billcore_value_kind, g.value),
      VALUE(billcore_value_path, 1),
      CALL(billcore_value_raw, g.value),
      VALUE(billcore_value_real, 1),
      {"billcore_value_text", [](Given& g) { call(&billcore_value_text, make(&find, g.value, "id")); }},
      CALL(billcore_verifier_matches, g.verifier, std::size_t{0}),
      CALL(billcore_verifier_new, text(secret), g.verifier_options),
      CALL(billcore_verifier_options_add_account, g.verifier_options, text("an account, for the heap as well")),
      CALL(billcore_verifier_options_add_secret, g.verifier_options, text(secret)),
      CALL(billcore_verifier_options_allow_any_key_length, g.verifier_options),
      CALL(billcore_verifier_options_new),
      CALL(billcore_verifier_options_set_clock, g.verifier_options, billcore_clock{nullptr}, nullptr, nullptr),
      CALL(billcore_verifier_options_set_freshness_ms, g.verifier_options, std::int64_t{1000}),
      CALL(billcore_verifier_options_set_header, g.verifier_options, text("X-A-Name-That-Is-Not-Short")),
      CALL(billcore_verifier_options_set_max_body, g.verifier_options, std::size_t{1000}),
      {"billcore_verifier_stream_finish",
       [](Given& g) {
         const auto stream = make(&billcore_verifier_stream_new, g.verifier);
         call(&billcore_verifier_stream_update, stream, text(body));
         call(&billcore_verifier_stream_finish, stream, text(g.signature));
       }},
      CALL(billcore_verifier_stream_new, g.verifier),
      CALL(billcore_verifier_stream_update, g.stream, text(body)),
      CALL(billcore_verifier_unwrap, g.verifier, text(body), text(g.signature)),
      CALL(billcore_verifier_unwrap_request, g.verifier, text(body), g.headers),
      CALL(billcore_verifier_verify, g.verifier, text(body), text(g.signature)),
      CALL(billcore_webhook_explain, text(body), text("0000"), text(secret), g.verifier_options),
      CALL(billcore_webhook_explain_with_headers, text(body), text("0000"), g.headers, text(secret),
           g.verifier_options),
      CALL(billcore_webhook_parse_unverified, text(body)),
      CALL(billcore_webhook_sign, text(body), text(secret)),
      CALL(billcore_webhook_unwrap, text(body), text(g.signature), text(secret)),
      CALL(billcore_webhook_verify, text(body), text(g.signature), text(secret)),
      {"verifier-accounts",
       [](Given& g) {
         const auto options = make(&billcore_verifier_options_new);
         call(&billcore_verifier_options_add_account, options, text("7"));
         call(&billcore_verifier_options_add_secret, options, text(secret));
         const auto verifier = make(&billcore_verifier_new, billcore_str{nullptr, 0}, options);
         call(&billcore_verifier_unwrap, verifier, text(body), text(g.signature));
       }},
      {"error-handle",
       [](Given&) {
         constexpr const billcore_event* none = nullptr;
         refused(BILLCORE_ERROR_INVALID_ARGUMENT, &billcore_event_data, none);
       }},
      {"error-field",
       [](Given& g) { refused(BILLCORE_ERROR_MISSING_FIELD, &billcore_resource_id, g.resource, text("absent")); }},
      {"error-signature",
       [](Given& g) {
         refused(BILLCORE_ERROR_SIGNATURE, &billcore_verifier_unwrap, g.verifier, text(body), text("no"));
       }},
  };
  return functions;
}

}  // namespace torture::abi
