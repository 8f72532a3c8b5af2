// The scenarios that call the functions of libbillcore. Most functions send their request over a reused connection.
#include <array>

#include "abi.hpp"

namespace torture::abi {
namespace {

constexpr std::string_view id = "an-id-that-does-not-fit-into-a-small-string";
constexpr billcore_call_options* no_options = nullptr;

template <typename To, typename From>
To* as(const Owned<From>& given) {
  return reinterpret_cast<To*>(static_cast<From*>(given));
}

constexpr billcore_done no_done = nullptr;

void unhooked(void*, const billcore_attempt*) {}

// A row of an inline function: its name has no prefix, because no library exports it. There is one for each way in
// which the generated functions run an operation.
#define TYPED(function, ...)                                                              \
  {                                                                                       \
    std::string_view(#function).substr(9), [](Given& g) { call(&function, __VA_ARGS__); } \
  }

}  // namespace

void prepare_client(Given& g, const std::string& base_url) {
  const auto set = [&](const char* name, std::string_view value) {
    call(&billcore_options_set_text, g.options, billcore_str_from(name), text(value));
  };
  g.options = make(&billcore_options_new, BILLCORE_OPTIONS_OF_CLIENT);
  set("base_url", base_url);
  set("api_key", "a_key_that_does_not_fit_into_a_small_string");
  call(&billcore_options_set_int64, g.options, text("max_retries"), std::int64_t{0});
  // The time-out is longer than hang_seconds in main.cpp, so a call that would end only by its time-out counts as
  // hung.
  call(&billcore_options_set_int64, g.options, text("timeout_ms"), std::int64_t{300'000});
  g.changes = make(&billcore_options_new, BILLCORE_OPTIONS_OF_PRODUCT);
  call(&billcore_options_set_text, g.changes, text("name"), text("a name that is not a short one"));
  g.request = make(&billcore_options_new, BILLCORE_OPTIONS_OF_REQUEST);
  call(&billcore_options_add, g.request, text("query"), text("page"), text("1"));
  g.call = make(&billcore_options_new, BILLCORE_OPTIONS_OF_CALL);
  g.cancel = make(&billcore_cancel_new);
  g.query = make(&billcore_options_new, BILLCORE_OPTIONS_OF_LIST);
  g.client = make(&billcore_client_new, as<billcore_client_options>(g.options));
  const auto new_list = [&] {
    billcore_order_list* list = std::get<0>(outputs_of(&billcore_subscription_orders_new, g.client, text(id),
                                                       as<billcore_order_query>(g.query), no_options));
    return Owned(reinterpret_cast<billcore_list*>(list));
  };
  g.list = new_list();
  g.page = make(&billcore_list_next_page, g.list);
  g.item = make(&billcore_page_at, g.page, std::size_t{0});
  g.list = new_list();
  g.response = make(&billcore_client_request, g.client, text("GET"), text("/orders"),
                    as<billcore_request_options>(g.request), no_options);
  g.update = make(&billcore_operation_new, text("products.update"));
  g.read = make(&billcore_operation_new, text("orders.get"));
  call(&billcore_operation_set_text, g.read, text("id"), text(id));
  g.listing = make(&billcore_operation_new, text("subscriptions.list"));
  g.custom = make(&billcore_operation_new, text("request"));
  call(&billcore_operation_set_text, g.custom, text("method"), text("GET"));
  call(&billcore_operation_set_text, g.custom, text("path"), text("/orders"));
  g.info = make(&billcore_response_get_info, g.response);
  g.loop = make(&billcore_loop_new, g.client);
}

const std::vector<Function>& client_functions() {
  static const std::vector<Function> functions{
      CALL(billcore_cancel_new),
      CALL(billcore_client_close, g.client),
      CALL(billcore_client_list, g.client, g.listing, no_options),
      CALL(billcore_client_new, as<billcore_client_options>(g.options)),
      TYPED(billcore_client_request, g.client, text("GET"), text("/orders"), as<billcore_request_options>(g.request),
            no_options),
      CALL(billcore_client_perform, g.client, g.read, no_options),
      CALL(billcore_client_with_options, g.client, nullptr),
      CALL(billcore_list_fetched_pages, g.list),
      CALL(billcore_list_first, g.list),
      CALL(billcore_list_next, g.list),
      CALL(billcore_list_next_arrow, g.list),
      CALL(billcore_list_next_page, g.list),
      CALL(billcore_list_peek_page, g.list),
      CALL(billcore_list_skip, g.list, std::size_t{0}),
      CALL(billcore_list_state, g.list),
      CALL(billcore_list_stop, g.list),
      CALL(billcore_list_total, g.list),
      CALL(billcore_list_verdict, g.list),
      {"billcore_operation_add",
       [](Given&) {
         const auto custom = make(&billcore_operation_new, text("request"));
         call(&billcore_operation_add, custom, text("query"), text(id), text(id));
       }},
      {"billcore_operation_add_text",
       [](Given&) {
         const auto listing = make(&billcore_operation_new, text("subscriptions.orders"));
         call(&billcore_operation_add_text, listing, text("state"), text(id));
       }},
      {"billcore_loop_cancel",
       [](Given& g) {
         const auto loop = make(&billcore_loop_new, g.client);
         const auto [ticket] = outputs_of(&billcore_loop_start, loop, g.read, no_options, no_done, nullptr, nullptr);
         call(&billcore_loop_cancel, loop, ticket);
         end_of_call(loop, BILLCORE_ERROR_INTERRUPTED);
       }},
      {"billcore_loop_fetch",
       [](Given& g) {
         call(&billcore_loop_fetch, g.loop, g.list, no_done, nullptr, nullptr);
         end_of_call(g.loop);
       }},
      {"billcore_loop_find_charges",
       [](Given& g) {
         refused(BILLCORE_ERROR_INVALID_ARGUMENT, &billcore_loop_find_charges, g.loop, nullptr, nullptr, no_options,
                 no_done, nullptr, nullptr);
       }},
      {"billcore_loop_find_charges_since",
       [](Given& g) {
         call(&billcore_loop_find_charges_since, g.loop, text(id), std::int64_t{0}, nullptr, no_options, no_done,
              nullptr, nullptr);
         end_of_call(g.loop);
       }},
      CALL(billcore_loop_many_new, g.loop, std::int32_t{2}, true, no_options),
      {"billcore_loop_many_wait",
       [](Given& g) {
         const auto many = make(&billcore_loop_many_new, g.loop, std::int32_t{2}, true, no_options);
         call(&billcore_many_add, many, g.read, std::uint64_t{7});
         call(&billcore_loop_many_wait, g.loop, many, no_done, nullptr, nullptr);
         end_of_call(g.loop);
         call(&billcore_many_next, many);
       }},
      CALL(billcore_loop_new, g.client),
      CALL(billcore_loop_use_client, g.loop, g.client),
      CALL(billcore_loop_next, g.loop),
      CALL(billcore_loop_process, g.loop),
      {"billcore_loop_start",
       [](Given& g) {
         call(&billcore_loop_start, g.loop, g.read, no_options, no_done, nullptr, nullptr);
         end_of_call(g.loop);
       }},
      {"billcore_many_add",
       [](Given& g) {
         const auto many = make(&billcore_many_new, g.client, std::int32_t{2}, true, no_options);
         call(&billcore_many_add, many, g.read, std::uint64_t{7});
       }},
      CALL(billcore_many_new, g.client, std::int32_t{2}, true, no_options),
      {"billcore_many_next",
       [](Given& g) {
         const auto many = make(&billcore_many_new, g.client, std::int32_t{2}, true, no_options);
         call(&billcore_many_add, many, g.read, std::uint64_t{7});
         call(&billcore_many_next, many);
       }},
      CALL(billcore_operation_new, text("subscriptions.charge")),
      CALL(billcore_operation_set_bool, g.update, text("a_field"), true),
      CALL(billcore_operation_set_int64, g.update, text("price"), std::int64_t{100}),
      CALL(billcore_operation_set_json, g.update, text("a_value"), text(R"({"a":["a text that is not a short one"]})")),
      CALL(billcore_operation_set_options, g.update, g.changes),
      CALL(billcore_operation_set_text, g.update, text("name"), text(id)),
      CALL(billcore_options_add, g.request, text("query"), text(id), text(id)),
      CALL(billcore_options_new, BILLCORE_OPTIONS_OF_CLIENT),
      CALL(billcore_options_set_bool, g.options, text("http2"), false),
      CALL(billcore_options_set_cancel, g.call, g.cancel),
      CALL(billcore_options_set_hook, g.call, &unhooked, nullptr, nullptr),
      CALL(billcore_options_set_int64, g.changes, text("price"), std::int64_t{100}),
      CALL(billcore_options_set_interrupt, g.options, billcore_interrupt{nullptr}, nullptr, nullptr),
      CALL(billcore_options_set_json, g.request, text("json"), text(R"({"a":["a text that is not a short one"]})")),
      CALL(billcore_options_set_text, g.options, text("ca_bundle"), text(id)),
      TYPED(billcore_order_get, g.client, text(id), no_options),
      CALL(billcore_page_at, g.page, std::size_t{0}),
      {"billcore_page_column",
       [](Given& g) {
         std::array<billcore_cell, 8> cells{};
         call(&billcore_page_column, g.page, text("id"), cells.data(), cells.size());
       }},
      CALL(billcore_page_count, g.page),
      CALL(billcore_page_numbers, g.page),
      TYPED(billcore_product_update, g.client, std::int64_t{1}, as<billcore_product_changes>(g.changes), no_options),
      CALL(billcore_response_body, g.response),
      CALL(billcore_response_get_info, g.response),
      CALL(billcore_response_header, g.response, text("A-Header-That-Is-Not-There-And-Long")),
      CALL(billcore_response_header_at, g.response, std::size_t{0}),
      CALL(billcore_response_header_count, g.response),
      CALL(billcore_response_json, g.response),
      CALL(billcore_response_status, g.response),
      TYPED(billcore_subscription_charge, g.client, text(id), std::int64_t{1}, g.amount, nullptr, no_options),
      {"billcore_result_take_page",
       [](Given& g) {
         call(&billcore_loop_find_charges_since, g.loop, text(id), std::int64_t{0}, nullptr, no_options, no_done,
              nullptr, nullptr);
         billcore_result* found = end_of_call(g.loop).give_up();
         call(&billcore_result_take_page, &found);
       }},
      {"billcore_result_take_resource",
       [](Given& g) {
         billcore_result* result = std::get<0>(outputs_of(&billcore_client_perform, g.client, g.read, no_options));
         call(&billcore_result_take_resource, &result, billcore_result_kind{BILLCORE_RESULT_ORDER});
       }},
      {"billcore_result_take_response",
       [](Given& g) {
         billcore_result* result = std::get<0>(outputs_of(&billcore_client_perform, g.client, g.custom, no_options));
         call(&billcore_result_take_response, &result);
       }},
      {"billcore_subscription_find_charges",
       [](Given& g) {
         refused(BILLCORE_ERROR_INVALID_ARGUMENT, &billcore_subscription_find_charges, g.client, nullptr, nullptr,
                 no_options);
       }},
      {"billcore_subscription_found_charges",
       [](Given&) { refused(BILLCORE_ERROR_INVALID_ARGUMENT, &billcore_subscription_found_charges, nullptr); }},
      CALL(billcore_subscription_find_charges_since, g.client, text(id), std::int64_t{0}, nullptr, no_options),
      TYPED(billcore_subscription_orders_new, g.client, text(id), nullptr, no_options),
      // The functions below are in libbillcore-webhook, but take objects that only a client returns.
      CALL(billcore_resource_response_info, g.item),
      CALL(billcore_response_info_attempts, g.info),
      CALL(billcore_response_info_header, g.info, text("A-Header-That-Is-Not-There-And-Long")),
      CALL(billcore_response_info_header_at, g.info, std::size_t{0}),
      CALL(billcore_response_info_header_count, g.info),
      CALL(billcore_response_info_request_id, g.info),
      CALL(billcore_response_info_sent_late, g.info),
      CALL(billcore_response_info_status, g.info),
  };
  return functions;
}

}  // namespace torture::abi
