// The contenders of the areas webhook and ffi that are written in C and C++. In place of a URL a command has
// OPERATION:FOLDER; FOLDER contains the files of a delivery.
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "delivery.hpp"
#include "ffi_c.h"
#include "native.hpp"
#include "sha_limit.hpp"

namespace {

using delivery::Delivery;
using Run = std::function<std::size_t(std::size_t count)>;
using Operations = std::map<std::string, Run>;
using Given = std::shared_ptr<const Delivery>;

std::size_t require(std::size_t read) {
  if (read == 0) throw std::runtime_error("an operation failed");
  return read;
}

// once: performs one operation; returns the total length of the values that it reads, or 0 if it fails.
template <typename Once>
Run repeated(Once once) {
  return [once](std::size_t count) {
    std::size_t sum = 0;
    while (count-- > 0) sum += require(once());
    return sum;
  };
}

Operations limit(const Given& given) {
  const auto states = std::make_shared<ShaLimit>(given->secret);
  const auto pool = std::make_shared<delivery::ParseLimit>(given->body->size());
  const auto verify = [states, given] {
    return states->verify(given->text(), given->claimed) ? given->body->size() : std::size_t{0};
  };
  const auto parse = [verify, pool, given] {
    const bool parsed = verify() != 0 && pool->parse(given->text(), [](yyjson_val* root) { return root != nullptr; });
    return parsed ? given->body->size() : std::size_t{0};
  };
  return {{"verify", repeated(verify)}, {"parse", repeated(parse)}};
}

Operations cpp(const Given& given) {
  const auto verifier = std::make_shared<billcore::Verifier>(std::string_view(given->secret));
  const billcore::Id one("480001");
  const billcore::Id other("480001");
  return {
      {"call", repeated([one, other] { return billcore::same_id(one, other) ? std::size_t{1} : std::size_t{0}; })},
      {"verify", repeated([verifier, given] {
         const bool matched = verifier->check(given->text(), given->signature) == billcore::SignatureReason::none;
         return matched ? given->body->size() : std::size_t{0};
       })},
      {"parse", repeated([verifier, given] { return verifier->unwrap(given->text(), given->signature).raw().size(); })},
      {"unwrap", repeated([verifier, given] {
         const auto event = verifier->unwrap(given->text(), given->signature);
         const auto subscription = event.data_as<billcore::Subscription>();
         return event.id().text().size() + event.name().size() + subscription.value().status().size();
       })},
  };
}

Operations cpp_shared(const Given& given) {
  const auto verifier = std::make_shared<billcore::Verifier>(std::string_view(given->secret));
  return {{"parse", repeated([verifier, given] {
             return verifier->unwrap_shared({given->text(), given->body}, given->signature).raw().size();
           })}};
}

Operations c(const Given& given) {
  billcore_verifier* made = nullptr;
  if (billcore_verifier_new({given->secret.data(), given->secret.size()}, nullptr, &made, nullptr) != BILLCORE_OK) {
    throw std::runtime_error("billcore_verifier_new failed");
  }
  const std::shared_ptr<billcore_verifier> verifier(made, billcore_verifier_free);
  const auto looped = [verifier, given](auto loop) -> Run {
    return [verifier, given, loop](std::size_t count) {
      return count == 0 ? 0 : require(loop(verifier.get(), given->c_body(), given->c_signature(), count));
    };
  };
  return {{"call", ffi_call}, {"verify", looped(ffi_verify)}, {"unwrap", looped(ffi_unwrap)}};
}

class Row final : public turns::Row {
 public:
  explicit Row(Run run) : run_(std::move(run)) {}
  std::size_t run(std::size_t count) override { return run_(count); }
  std::string show() override { return std::to_string(run_(1)); }

 private:
  Run run_;
};

}  // namespace

std::unique_ptr<turns::Row> webhook::make(std::string_view name, const turns::Server& server, int /*at_once*/) {
  // A webhook receiver has several threads. In a process with only one, the C and C++ run-time libraries skip atomic
  // operations and are therefore faster.
  static const std::jthread idle([](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait(lock, stop, [] { return false; });
  });
  static const std::map<std::string_view, Operations (*)(const Given&)> contenders{
      {"limit", limit}, {"cpp", cpp}, {"cpp_shared", cpp_shared}, {"c", c}};
  const auto colon = server.base_url.find(':');
  const auto given = std::make_shared<const Delivery>(delivery::read_delivery(server.base_url.substr(colon + 1)));
  return std::make_unique<Row>(contenders.at(name)(given).at(server.base_url.substr(0, colon)));
}
