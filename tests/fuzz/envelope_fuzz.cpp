// Tests that unwrap() of any correctly signed body returns an event or fails with Error(decode).
#include <optional>

#include "billcore/event.hpp"
#include "support.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

template <typename Get>
void read(Get get) {
  try {
    static_cast<void>(get());
  } catch (const Error& error) {
    require_decode(error);
  }
}

// Checks, without the library, that the body is UTF-8 and begins with '{', as every event does.
bool may_be_event(std::string_view body) {
  const auto begin = body.find_first_not_of(" \t\r\n");
  return is_utf8(body) && begin != std::string_view::npos && body[begin] == '{';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto body = view(data, size);
  const auto verifier = make_verifier();
  try {
    const auto event = signed_event(body, verifier);
    require(may_be_event(body), "an event is a JSON object in UTF-8");
    require(event.raw() == body, "raw() is the body as received");
    read([&] { return event.id(); });
    read([&] { return event.name(); });
    read([&] { return event.account(); });
    read([&] { return event.created_at(); });
    require(event.type() == EventType::unknown || event.name() == to_string(event.type()), "the type matches the name");
    static_cast<void>(event.data());
    walk(event.value(), "");

    // Documents share a pool of memory: a live document must not change when other documents are made and destroyed.
    auto kept = std::make_optional(signed_event(body, verifier));
    const std::string longer = std::string(body) + ' ';
    const auto other = signed_event(longer, verifier);
    require(kept->value() == other.value() && kept->raw() == body && other.raw() == longer,
            "events do not share memory");
    const auto alone = signed_event(body);  // the verifier that made this event is already destroyed
    require(alone.value() == other.value(), "an event outlives its verifier");
    const auto part = kept->value().find("data");
    kept.reset();
    require(signed_event(body, verifier).raw() == body && other.raw() == longer, "events do not share memory");
    if (part) require(part == other.value().find("data"), "a value keeps its document");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::decode, "a signed body that is not an event is Error(decode)");
    require_readable(error);
  }
  return 0;
}
