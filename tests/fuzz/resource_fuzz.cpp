// Reads the `data` of an event of one type: each field must give a value or Error(decode), and a detached copy must
// give the same results.
#include "billcore/model.hpp"
#include "describe.hpp"
#include "support.hpp"

using namespace billcore;
using namespace billcore::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string body =
      R"({"id":1,"name":")" BILLCORE_EVENT R"(","account":7,"created_at":"2025-04-25T09:30:00Z","data":)";
  body += view(data, size);
  body += '}';
  try {
    const auto event = signed_event(body);
    const auto resource = event.data_as<BILLCORE_RESOURCE>();
    if (!resource) return 0;
    const auto fields = describe(*resource);
    const auto copy = resource->copy();
    require(copy == *resource && copy.raw() == resource->raw(), "a copy is the same");
    require(describe(copy) == fields, "a copy reads the same, errors and paths as well");
    const auto other = BILLCORE_RESOURCE(*event.value().find("data"));
    require(other == *resource, "two views of one value are equal");
  } catch (const Error& error) {
    require_decode(error);
  }
  return 0;
}
