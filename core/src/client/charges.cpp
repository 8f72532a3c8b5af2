// Finds the orders that a charge of unknown outcome may have created: where to look, and when to stop.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.hpp"
#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "billcore/internal.hpp"
#include "billcore/model.hpp"
#include "billcore/operation.hpp"
#include "paging/page_flow.hpp"

namespace billcore {
namespace {

[[noreturn]] void refuse(const char* problem) { throw Error(ErrorCode::invalid_argument, problem); }

/// The id in the path of a charge, /subscription/{id}/order; nullopt for other requests.
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

Instant earlier(Instant instant, std::chrono::microseconds by) noexcept {
  const auto since_epoch = instant.time_since_epoch();
  return since_epoch.count() < 0 && by > instant - Instant::min() ? Instant::min() : instant - by;
}

}  // namespace

namespace operations {

ChargeSearch find_charges(const Error& error, std::chrono::microseconds skew) {
  const auto& request = error.detail();
  const auto subscription = charged_subscription(request);
  if (!subscription) refuse("the error is not about a charge: pass the id of the subscription, and since");
  if (!request.outcome_unknown) refuse("the outcome of this charge is known: there is nothing to look for");
  if (!request.attempted_at) {
    refuse("the error does not say when the charge was sent: pass the id of the subscription, and since");
  }
  if (skew < std::chrono::microseconds::zero()) refuse("skew must not be negative");
  return find_charges(Id(*subscription), earlier(*request.attempted_at, skew));
}

// Rounded down to a whole second: the service's times may be whole seconds, and an order made within the same second
// must not look older.
ChargeSearch find_charges(const Id& subscription, Instant since) {
  const auto micros = since.time_since_epoch();
  constexpr std::chrono::microseconds second = std::chrono::seconds(1);
  const auto beyond = (micros % second + second) % second;
  return {list_orders(subscription, {}), earlier(since, beyond)};
}

}  // namespace operations

bool internal::take_charges(detail::PageFlow& orders, Instant since, std::vector<Value>& out) {
  while (auto order = orders.take_item()) {
    if (Order(*order).created_at().at < since) {
      orders.stop();
      return true;
    }
    out.push_back(*std::move(order));
  }
  return false;
}

}  // namespace billcore
