// The structs behind the handles of libbillcore-webhook. Both libbillcore and libbillcore-webhook make and free these
// handles; this works because both are of the same build and share a heap.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/detail/secret.hpp"
#include "billcore/event.hpp"
#include "billcore/model.hpp"
#include "billcore/webhook.h"
#include "billcore/webhook.hpp"
#include "shared/resource_faces.hpp"

namespace billcore::capi {

/// NUL-terminated copies of the digits of numbers, for the getters that return a number as text (the digits in the
/// JSON have no NUL after them). When a number is read for the first time, on any thread, its digits are copied; the
/// handle keeps the copy.
class Digits {
 public:
  Digits() = default;
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
  ~Digits() {
    for (const Kept* kept = first_.load(); kept != nullptr;) delete std::exchange(kept, kept->next);
  }

  /// Returns the stored copy of a value's digits; the first call makes the copy by calling `read`. The address of the
  /// value's node identifies the value, because the handle keeps the document alive.
  template <typename Read>
  [[nodiscard]] std::string_view of(const Value& value, Read read) const {
    const Kept* first = first_.load(std::memory_order_acquire);
    for (const Kept* kept = first; kept != nullptr; kept = kept->next) {
      if (kept->node == value.node()) return kept->text;
    }
    // Two threads may each add a copy of the same digits; that does no harm.
    auto made = std::make_unique<Kept>(Kept{std::string(read(value)), value.node(), first});
    while (!first_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel)) {
    }
    return made.release()->text;
  }

 private:
  struct Kept {
    std::string text;
    const detail::Node* node;
    const Kept* next;
  };
  mutable std::atomic<const Kept*> first_{nullptr};
};

/// Makes public the protected member functions with which Resource reads and checks fields.
class Reader : public Resource {
 public:
  explicit Reader(const Resource& resource) : Resource(resource) {}
  explicit Reader(Value value) : Resource(std::move(value)) {}
  using Resource::any;
  using Resource::boolean;
  using Resource::detached;
  using Resource::integer;
  using Resource::integers;
  using Resource::nullable;
  using Resource::nullable_object;
  using Resource::nullable_text;
  using Resource::nullable_time;
  using Resource::object;
  using Resource::objects;
  using Resource::required;
  using Resource::text;
  using Resource::time;
};

}  // namespace billcore::capi

struct billcore_value {
  static constexpr const char* name = "billcore_value";
  explicit billcore_value(billcore::Value value) : view(std::move(value)) {}
  billcore::Value view;
};

struct billcore_value_iterator {
  static constexpr const char* name = "billcore_value_iterator";
  explicit billcore_value_iterator(billcore::Value value) : view(std::move(value)), next(view.begin()) {}
  billcore_value_iterator(const billcore_value_iterator&) = delete;  // `next` points into `view`
  billcore_value_iterator& operator=(const billcore_value_iterator&) = delete;
  billcore::Value view;
  billcore::Value::Iterator next;
};

struct billcore_response_info {
  static constexpr const char* name = "billcore_response_info";
  explicit billcore_response_info(std::shared_ptr<const billcore::ResponseInfo> shared)
      : info(std::move(shared)), view(*info) {}
  std::shared_ptr<const billcore::ResponseInfo> info;
  const billcore::ResponseInfo& view;
};

/// The result of an operation is the handle that it gives up, so that it needs no memory of its own.
struct billcore_result {
  static constexpr const char* name = "billcore_result";
  std::int32_t kind = 0;  // a billcore_result_kind; 0: this handle is no result
};

struct billcore_resource : billcore_result {
  static constexpr const char* name = "billcore_resource";
  explicit billcore_resource(const billcore::Resource& resource) : view(resource) {}
  billcore_resource(billcore::Value value, std::int32_t of_kind) : billcore_result{of_kind}, view(std::move(value)) {}
  billcore::capi::Reader view;
  billcore::capi::Digits digits;
};

// An event is also a resource: the functions for resources read the fields of its envelope.
struct billcore_event : billcore_resource {
  static constexpr const char* name = "billcore_event";
  explicit billcore_event(billcore::Event event)
      : billcore_resource(billcore::Resource(event.value())), view(std::move(event)) {}
  billcore::Event view;
};

struct billcore_verifier_options {
  static constexpr const char* name = "billcore_verifier_options";
  billcore::VerifierOptions options;
  bool any_key_length = false;
  std::vector<std::string> secrets;
  struct Account {
    std::string name;
    std::size_t first;  // index of the account's first secret in `secrets`; the next account's secrets follow
  };
  std::vector<Account> accounts;

  billcore_verifier_options() = default;
  billcore_verifier_options(const billcore_verifier_options&) = delete;
  billcore_verifier_options& operator=(const billcore_verifier_options&) = delete;
  ~billcore_verifier_options() {
    for (auto& secret : secrets) billcore::detail::cleanse(secret.data(), secret.size());
  }
};

struct billcore_headers {
  static constexpr const char* name = "billcore_headers";
  std::vector<std::pair<std::string, std::string>> fields;
};

struct billcore_verifier {
  static constexpr const char* name = "billcore_verifier";
  explicit billcore_verifier(const billcore::Verifier& verifier) : view(verifier) {}
  billcore::Verifier view;
};

struct billcore_verifier_stream {
  static constexpr const char* name = "billcore_verifier_stream";
  explicit billcore_verifier_stream(billcore::VerifyStream stream) : view(std::move(stream)) {}
  billcore::VerifyStream view;
};
