// Options of every kind, set by their names.
#include "billcore/options.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "client/arguments.hpp"
#include "client/client_option_names.hpp"
#include "client/handles.hpp"
#include "shared/convert.hpp"
#include "shared/guard.hpp"

using namespace billcore::capi;
using billcore::CallOptions;
using billcore::Charge;
using billcore::ClientChanges;
using billcore::ClientOptions;
using billcore::JsonObject;
using billcore::RequestOptions;

namespace {

// Each overload of set() is for one kind of options and one type of value; it returns false when this kind has no
// option with the given name.

template <typename Options, typename Given>
bool set(Options& to, std::string_view name, const Given& value) {
  if constexpr (requires { set_by_name(to, name, value); }) {
    return set_by_name(to, name, value);  // generated
  } else {
    return false;
  }
}

bool set(JsonObject& to, std::string_view name, const std::string& value) {
  to.set(name, value);
  return true;
}

bool set(CallOptions& to, std::string_view name, const std::int64_t& value) {
  if (name == "timeout_ms")
    to.timeout = std::chrono::milliseconds(value);
  else if (name == "total_timeout_ms")
    to.total_timeout = std::chrono::milliseconds(value);
  else
    return false;
  return true;
}

bool set(JsonObject& to, std::string_view name, const std::int64_t& value) {
  to.set(name, value);
  return true;
}

bool set(ChargeSearchOptions& to, std::string_view name, const std::int64_t& value) {
  using std::chrono::milliseconds;
  if (name == "skew_ms")
    to.skew = std::clamp(milliseconds(value), milliseconds(-1), milliseconds(std::chrono::years(10)));
  else if (name == "product_id")
    to.product_id = value;
  else
    return false;
  return true;
}

bool set(CallOptions& to, std::string_view name, const bool& value) {
  if (name != "no_timeout") return false;
  require_true(name, value);
  to.timeout = billcore::no_timeout;
  return true;
}

bool set(RequestOptions& to, std::string_view name, const bool& value) {
  if (name != "raise_on_error") return false;
  to.raise_on_error = value;
  return true;
}

struct Json {
  std::string text;
};

bool set(JsonObject& to, std::string_view name, const Json& json) {
  set_field(to, name, json.text);
  return true;
}

bool set(RequestOptions& to, std::string_view name, const Json& json) {
  if (name != "json") return false;
  to.json = json.text;
  return true;
}

bool set(RequestOptions& to, std::string_view name, const Pair& pair) {
  if (name != "query") return false;
  to.query.emplace_back(pair.key, pair.value);
  return true;
}

class CHooks final : public billcore::Hooks {
 public:
  CHooks(billcore_hook hook, std::shared_ptr<void> context) noexcept : hook_(hook), context_(std::move(context)) {}
  void on_request(const billcore::Attempt& attempt) override { tell(BILLCORE_MOMENT_REQUEST, attempt); }
  void on_response(const billcore::Attempt& attempt) override { tell(BILLCORE_MOMENT_RESPONSE, attempt); }
  void on_retry(const billcore::Attempt& attempt) override { tell(BILLCORE_MOMENT_RETRY, attempt); }

 private:
  void tell(billcore_moment moment, const billcore::Attempt& attempt) {
    const billcore_attempt told{.moment = moment,
                                .number = attempt.number,
                                .status = attempt.status,
                                .failure = static_cast<billcore_status>(attempt.failure),
                                .method = borrow(attempt.method),
                                .route = borrow(attempt.route),
                                .request_id = borrow(attempt.request_id),
                                .duration_micros = attempt.duration.count(),
                                .wait_ms = attempt.wait.count(),
                                .path = borrow(attempt.path),
                                .sent = attempt.sent,
                                .outcome_unknown = attempt.outcome_unknown};
    hook_(context_.get(), &told);
  }

  billcore_hook hook_;
  std::shared_ptr<void> context_;
};

template <typename Make>
billcore_status set_option(billcore_options* options, billcore_str name, Make make, billcore_error** err) noexcept {
  return call(err, [&] {
    auto& self = handle(options);
    const auto given = make();
    const bool known = std::visit([&](auto& to) { return set(to, view(name), given); }, self.view);
    if (!known) refuse("these options have no such option of this type: '" + shown(view(name)) + "'");
  });
}

billcore_options::View empty_options(billcore_options_kind kind) {
  switch (kind) {
    case BILLCORE_OPTIONS_OF_CLIENT:
      return ClientOptions();
    case BILLCORE_OPTIONS_OF_CHANGES:
      return ClientChanges();
    case BILLCORE_OPTIONS_OF_CALL:
      return CallOptions();
    case BILLCORE_OPTIONS_OF_CHARGE:
      return Charge();
    case BILLCORE_OPTIONS_OF_PRODUCT:
      return JsonObject();
    case BILLCORE_OPTIONS_OF_REQUEST:
      return RequestOptions();
    case BILLCORE_OPTIONS_OF_LIST:
      return ListOptions();
    case BILLCORE_OPTIONS_OF_CHARGE_SEARCH:
      return ChargeSearchOptions();
    default:
      refuse("kind must be one of BILLCORE_OPTIONS_OF_CLIENT to BILLCORE_OPTIONS_OF_CHARGE_SEARCH");
  }
}

}  // namespace

billcore_status billcore_options_new(billcore_options_kind kind, billcore_options** out, billcore_error** err) {
  return call(
      err, [&] { put_new(out, empty_options(kind)); }, out);
}

void billcore_options_free(billcore_options* options) { delete options; }

billcore_status billcore_options_set_text(billcore_options* options, billcore_str name, billcore_str value,
                                          billcore_error** err) {
  return set_option(
      options, name, [&] { return text(value); }, err);
}

billcore_status billcore_options_set_int64(billcore_options* options, billcore_str name, int64_t value,
                                           billcore_error** err) {
  return set_option(
      options, name, [&] { return value; }, err);
}

billcore_status billcore_options_set_bool(billcore_options* options, billcore_str name, bool value,
                                          billcore_error** err) {
  return set_option(
      options, name, [&] { return value; }, err);
}

billcore_status billcore_options_set_json(billcore_options* options, billcore_str name, billcore_str json,
                                          billcore_error** err) {
  return set_option(
      options, name, [&] { return Json{text(json)}; }, err);
}

billcore_status billcore_options_add(billcore_options* options, billcore_str name, billcore_str key, billcore_str value,
                                     billcore_error** err) {
  return set_option(
      options, name,
      [&] {
        return Pair{text(key), text(value)};
      },
      err);
}

billcore_status billcore_options_set_interrupt(billcore_options* options, billcore_interrupt callback, void* context,
                                               billcore_release release, billcore_error** err) {
  return call(err, [&] {
    auto kept = owned(context, release);
    auto& self = handle(options).view;
    auto* client = std::get_if<ClientOptions>(&self);
    auto* call = std::get_if<CallOptions>(&self);
    if (client == nullptr && call == nullptr) refuse("only the options of a client and of a call have an interrupt");
    std::function<bool()> interrupt;
    if (callback != nullptr) interrupt = [callback, kept = std::move(kept)] { return callback(kept.get()); };
    (client != nullptr ? client->interrupt : call->interrupt) = std::move(interrupt);
  });
}

billcore_status billcore_options_set_hook(billcore_options* options, billcore_hook hook, void* context,
                                          billcore_release release, billcore_error** err) {
  return call(err, [&] {
    auto kept = owned(context, release);
    auto& self = handle(options).view;
    std::shared_ptr<billcore::Hooks> hooks;
    if (hook != nullptr) hooks = std::make_shared<CHooks>(hook, std::move(kept));
    if (auto* client = std::get_if<ClientOptions>(&self)) {
      client->hooks = std::move(hooks);
    } else if (auto* changes = std::get_if<ClientChanges>(&self)) {
      changes->hooks = std::move(hooks);
    } else if (auto* call = std::get_if<CallOptions>(&self)) {
      call->hooks = std::move(hooks);
    } else {
      refuse("only the options of a client, of its changes and of a call have a hook");
    }
  });
}

billcore_status billcore_options_set_cancel(billcore_options* options, const billcore_cancel* cancel,
                                            billcore_error** err) {
  return call(err, [&] {
    auto* to = std::get_if<CallOptions>(&handle(options).view);
    if (to == nullptr) refuse("only the options of a call have a cancel token");
    to->cancel = cancel == nullptr ? std::stop_token() : cancel->source.get_token();
  });
}
