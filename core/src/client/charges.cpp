// What a charge of unknown outcome may have made: which orders to look at, and when to stop.
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.hpp"
#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "billcore/model.hpp"
#include "billcore/operation.hpp"

namespace billcore {
namespace {

[[noreturn]] void refuse(const char* problem) { throw Error(ErrorCode::invalid_argument, problem); }

/// The id in the path of a charge, /subscription/{id}/order; nothing for other requests.
std::optional<std::string> charged_subscription(const ErrorDetail& request) {
  constexpr std::string_view before = "/subscription/";
  constexpr std::string_view behind = "/order";
  std::string_view path = request.path;
  if (request.method != "POST" || !path.starts_with(before) || !path.ends_with(behind)) return std::nullopt;
  if (path.size() <= before.size() + behind.size()) return std::nullopt;
  path.remove_prefix(before.size());
  path.remove_suffix(behind.size());
  if (path.find('/') != std::string_view::npos) return std::nullopt;
  std::string id;
  if (path.find('%') == std::string_view::npos) return std::string(path);
  if (!detail::decode_percent(path, false, id)) return std::nullopt;
  return id;
}

std::int64_t earlier(std::int64_t instant, std::chrono::microseconds by) noexcept {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  return instant < 0 && by.count() > instant - least ? least : instant - by.count();
}

}  // namespace

namespace operations {

ChargeSearch find_charges(const Error& error, std::chrono::microseconds skew) {
  const auto& request = error.detail();
  const auto subscription = charged_subscription(request);
  if (!subscription) refuse("the error is not about a charge: pass the id of the subscription, and since");
  if (!request.outcome_unknown) refuse("the outcome of this charge is known: there is nothing to look for");
  if (request.attempted_at == 0) {
    refuse("the error does not say when the charge was sent: pass the id of the subscription, and since");
  }
  if (skew < std::chrono::microseconds::zero()) refuse("skew must not be negative");
  return find_charges(Id(*subscription), earlier(request.attempted_at, skew));
}

// The service's times may be whole seconds: a charge of the same second must not look older.
ChargeSearch find_charges(const Id& subscription, std::int64_t since) {
  constexpr std::int64_t second = 1'000'000;
  const auto beyond = (since % second + second) % second;
  return {list_orders(subscription, {}), earlier(since, std::chrono::microseconds(beyond))};
}

}  // namespace operations

bool detail::take_charges(PagerCore& core, std::int64_t since, std::vector<Value>& out) {
  while (auto order = take_item(core)) {
    if (Order(*order).created_at().unix_micros < since) {
      stop(core);
      return true;
    }
    out.push_back(*std::move(order));
  }
  return false;
}

}  // namespace billcore
