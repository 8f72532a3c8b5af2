// The operations of the service as values: what each one sends, apart from who sends it and when. Client's methods send
// them at once, AsyncClient begins them. Service interface: Endpoints.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/values.hpp"

namespace billcore {

struct SubscriptionQuery {
  std::optional<std::string> reference_id = {};  // exact match
  std::int64_t page = 1;                         // where to begin, from 1
  bool strict = false;                           // read the list a second time, for what the first missed
  std::optional<std::string> resume = {};        // a Pager's state(): go on from there
};

struct OrderQuery {
  std::optional<std::int64_t> product_id = {};
  std::vector<std::string> states = {};       // any of these, one each; see order_state
  std::optional<std::int64_t> per_page = {};  // 1 to 200; the service's default is 20
  std::int64_t page = 1;
  bool strict = false;
  std::optional<std::string> resume = {};
};

struct ProductQuery {
  std::int64_t page = 1;
  bool strict = false;
  std::optional<std::string> resume = {};
};

/// A one-off charge. What is not given is not sent.
struct Charge {
  std::int64_t product_id = 0;  // a one-time product of the account
  std::int64_t amount = 0;      // cents
  std::optional<std::int64_t> quantity = {};
  std::optional<std::int64_t> vat = {};  // basis points
  std::optional<std::string> description = {};
};

/// A request of your own to a path of the service.
struct RequestOptions {
  std::vector<std::pair<std::string, std::string>> query = {};  // encoded by the client
  std::optional<std::string> json = {};                         // body: any JSON, sent without spaces
  bool raise_on_error = true;                                   // false: give back every complete answer
};

/// Everything but GET changes something, and is sent at most once.
[[nodiscard]] constexpr bool is_write(std::string_view method) noexcept { return method != "GET"; }

/// One request.
struct Operation {
  std::string method;
  std::string path;                                             // below the base URL, encoded
  std::string_view route = {};                                  // the path with names for ids; static
  std::vector<std::pair<std::string, std::string>> query = {};  // not encoded yet
  std::optional<std::string> body = {};                         // JSON
  std::int64_t page = 0;                                        // of a list, for its errors; 0: none
  bool promises_json = true;                                    // false: the answer's body is not specified

  [[nodiscard]] bool is_write() const noexcept { return billcore::is_write(method); }
};

/// A list: one request for each page.
struct ListOperation {
  std::string path;
  std::string_view route;
  std::vector<std::pair<std::string, std::string>> query = {};

  /// The request for the page with this number, from 1.
  [[nodiscard]] Operation page(std::int64_t number) const;
};

/// Where the effect of a charge is to be found: among these orders, which are listed latest first, back to `since`.
struct ChargeSearch {
  ListOperation orders;
  Instant since;  // orders made before it are not the charge's
};

/// What each operation sends. Error(invalid_argument) for what the service's Limits forbid, and for what is no id.
namespace operations {

[[nodiscard]] ListOperation list_subscriptions(const SubscriptionQuery& query);
[[nodiscard]] Operation get_subscription(const Id& id);
[[nodiscard]] Operation cancel_subscription(const Id& id);
[[nodiscard]] Operation change_subscription_product(const Id& id, std::int64_t product_id);
[[nodiscard]] Operation charge_subscription(const Id& id, const Charge& charge);
[[nodiscard]] ListOperation list_orders(const Id& subscription, const OrderQuery& query);
/// error: of a charge whose outcome is unknown, else Error(invalid_argument). skew: by how much the service's clock may
/// be behind this machine's.
[[nodiscard]] ChargeSearch find_charges(const Error& error, std::chrono::microseconds skew);
/// since: UTC microseconds by the service's clock; from the beginning of its second.
[[nodiscard]] ChargeSearch find_charges(const Id& subscription, Instant since);
[[nodiscard]] Operation get_order(const Id& id);
[[nodiscard]] ListOperation list_products();
[[nodiscard]] Operation get_product(std::int64_t id);
[[nodiscard]] Operation update_product(std::int64_t id, const JsonObject& fields);
[[nodiscard]] Operation delete_product(std::int64_t id);
[[nodiscard]] Operation create_webhook_endpoint(std::string_view url);
/// Any other. method: GET, POST, PUT, PATCH or DELETE; path: begins with a slash, already encoded.
[[nodiscard]] Operation request(std::string_view method, std::string_view path, const RequestOptions& options);

}  // namespace operations

}  // namespace billcore
