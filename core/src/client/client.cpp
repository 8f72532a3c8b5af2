#include "billcore/client.hpp"

#include <algorithm>
#include <utility>

#include "billcore/charges.hpp"
#include "billcore/internal.hpp"
#include "call/session.hpp"

namespace billcore {
namespace {

std::vector<Order> found_charges(detail::Session& session, ChargeSearch search, CallOptions call) {
  const auto timeout = call.timeout.value_or(session.settings().options.timeout);
  search.limit(call.total_timeout.value_or(timeout));
  while (const auto page = search.next()) {
    call.timeout = std::min(timeout, search.time_left());
    session.send(*page, call, [&search](Completed& completed) { search.take(completed); });
  }
  return search.result();
}

}  // namespace

std::vector<Order> detail::SubscriptionsByHand::find_charges(const Error& error, std::chrono::microseconds skew,
                                                             std::optional<std::int64_t> product_id,
                                                             const CallOptions& call) const {
  return found_charges(*session_, operations::find_charges(error, skew, product_id), call);
}

std::vector<Order> detail::SubscriptionsByHand::find_charges(const Id& id, Instant since,
                                                             std::optional<std::int64_t> product_id,
                                                             const CallOptions& call) const {
  return found_charges(*session_, operations::find_charges(id, since, product_id), call);
}

Product detail::ProductsByHand::update(std::int64_t id, const JsonObject& fields, const CallOptions& call) const {
  return Product(session_->resource(operations::products::update(id, fields), call));
}

std::vector<Order> internal::find_charges(const Client& client, ChargeSearch search, const CallOptions& call) {
  return found_charges(*Access::session(client), std::move(search), call);
}

Client::Client(ClientOptions options) : Groups(std::make_shared<detail::Session>(std::move(options))) {}

Client::Client(const Client& original, const ClientChanges& changes)
    : Groups(std::make_shared<detail::Session>(*original.session_, changes)) {}

Client Client::with_options(const ClientChanges& changes) const { return {*this, changes}; }

bool Client::close() noexcept { return session_->close(); }

Response Client::request(std::string_view method, std::string_view path, const RequestOptions& options,
                         const CallOptions& call) const {
  return session_->response(operations::request(method, path, options), options.raise_on_error, call);
}

}  // namespace billcore
