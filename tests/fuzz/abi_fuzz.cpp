// Calls functions of the C ABI in any order. The input is a program: each step calls one function, or frees a handle,
// which later steps no longer use. make_abi_steps.py lists all functions that send no request.
#include "abi_call.hpp"

namespace {

using namespace billcore::fuzz;
using abi::Caller;

const std::vector<std::string_view> words{
    R"({"id":1,"name":"subscription.renewed","account":7,"created_at":"2025-04-25T07:30:00Z","data":{"id":"s","price":1,)"
    R"("status":"cancelled","ends_at":"2025-05-25T07:30:00Z","custom_fields":[{"id":1,"label":"a","value":[1,2.5]}]}})",
    R"({"id":"2","name":"product.updated","account":7,"created_at":"x","data":{"id":1,"vat_rate":12.50,"use_cart":true,)"
    R"("images":[{"portrait":{"src":"p"},"square":{}}],"strings":{"price":null,"type":"t"}}})",
    R"({"name":"product-group.deleted","data":{"id":1,"products":[5,9223372036854775808,"x"]}})",
    R"({"name":"order.paid","data":{"id":7,"total":99999999999999999999,"delivery":{"link":"l"},"metadata":{"a":{}}}})",
    R"({"name":"test.hook"})",
    R"([null,true,-0,1e400,"\u0000\ud83d\ude00",{"a":1,"a":[]}])",
    "0123456789abcdef0123456789abcdef",
    "Service-Signature",
    "sha256=0000000000000000000000000000000000000000000000000000000000000000",
    "id",
    "price",
    "total",
    "status",
    "created_at",
    "ends_at?",
    "metadata",
    "metadata?",
    "/metadata/a?",
    "/delivery?/link",
    "/strings/price?",
    "/strings/type",
    "vat_rate",
    "use_cart",
    "custom_fields",
    "images",
    "products",
    "absent?",
    "/",
    "?",
    "",
    "a",
    "base_url",
    "https://billing.example/0b7e9a52-account",
    "api_key",
    "proxy",
    "no_proxy",
    "timeout_ms",
    "no_timeout",
    "max_retries",
    "concurrency",
    "max_response",
    "http2",
    "allow_insecure_http",
    "request_id_header",
    "headers",
    "query",
    "json",
    "raise_on_error",
    "subscriptions.orders",
    "products.update",
    "subscriptions.charge",
    "request",
    "state",
    "strict",
    "quantity",
    "description",
    "name",
    "1",
    "paid",
    "caf\xc3\xa9\r\n",
    "\xff\xfe",
};

using Step = void (*)(Caller&);
#define CALL(function) [](Caller& caller) { caller.call(&function); }
#define GET(function) [](Caller& caller) { caller.get(&function); }

constexpr Step steps[] = {[](Caller& caller) { caller.free_one(); }, BILLCORE_STEPS(CALL, GET)};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes plan(data, size);
  Caller caller(plan, words);
  for (int step = 0; step < 200 && !plan.empty(); ++step) steps[plan.below(std::size(steps))](caller);
  return 0;
}
