// The operations of the service as values: the request of each, independent of who sends it and when. Client's methods
// send them at once, AsyncClient starts them. Service interface: Endpoints.
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
  std::int64_t page = 1;                         // first page to read, from 1
  bool strict = false;                           // read the list twice, to catch what the first pass missed
  std::optional<std::string> resume = {};        // a Pager's state() to resume from; not together with `page`
};

struct OrderQuery {
  std::optional<std::int64_t> product_id = {};
  std::vector<std::string> states = {};       // orders in any of these states, sent one parameter each; see order_state
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

/// A one-off charge. Unset fields are not sent.
struct Charge {
  std::int64_t product_id = 0;  // a one-time product of the account
  std::int64_t amount = 0;      // cents
  std::optional<std::int64_t> quantity = {};
  std::optional<std::int64_t> vat = {};  // basis points
  std::optional<std::string> description = {};
};

/// A custom request to a path of the service.
struct RequestOptions {
  std::vector<std::pair<std::string, std::string>> query = {};  // the client encodes it
  std::optional<std::string> json = {};                         // body: any JSON, sent without white space
  bool raise_on_error = true;                                   // false: return every complete answer
};

/// Every method except GET changes something and is sent at most once.
[[nodiscard]] constexpr bool is_write(std::string_view method) noexcept { return method != "GET"; }

/// One request.
struct Operation {
  std::string method;
  std::string path;                                             // below the base URL, encoded
  std::string_view route = {};                                  // the path with placeholders for ids; static
  std::vector<std::pair<std::string, std::string>> query = {};  // not encoded yet
  std::optional<std::string> body = {};                         // JSON
  std::int64_t page = 0;                                        // page number of a list, for its errors; 0: not a list
  bool promises_json = true;                                    // false: the body of the answer is unspecified

  [[nodiscard]] bool is_write() const noexcept { return billcore::is_write(method); }
};

/// A list: one request per page.
struct ListOperation {
  std::string path;
  std::string_view route;
  std::vector<std::pair<std::string, std::string>> query = {};

  /// The request for page `number`, from 1.
  [[nodiscard]] Operation page(std::int64_t number) const;
};

/// The request of each operation. Error(invalid_argument) for what the service's Limits forbid and for an invalid id.
namespace operations {

[[nodiscard]] ListOperation list_subscriptions(const SubscriptionQuery& query);
[[nodiscard]] Operation get_subscription(const Id& id);
[[nodiscard]] Operation cancel_subscription(const Id& id);
[[nodiscard]] Operation change_subscription_product(const Id& id, std::int64_t product_id);
[[nodiscard]] Operation charge_subscription(const Id& id, const Charge& charge);
[[nodiscard]] ListOperation list_orders(const Id& subscription, const OrderQuery& query);
[[nodiscard]] Operation get_order(const Id& id);
[[nodiscard]] ListOperation list_products();
[[nodiscard]] Operation get_product(std::int64_t id);
[[nodiscard]] Operation update_product(std::int64_t id, const JsonObject& fields);
[[nodiscard]] Operation delete_product(std::int64_t id);
[[nodiscard]] Operation create_webhook_endpoint(std::string_view url);
/// Any other request. method: GET, POST, PUT, PATCH or DELETE; path: starts with a slash, already encoded.
[[nodiscard]] Operation request(std::string_view method, std::string_view path, const RequestOptions& options);

}  // namespace operations

}  // namespace billcore
