// The operations that are not generated: products.update and subscriptions.find_charges.
#include "client/by_hand.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "billcore/charges.hpp"
#include "billcore/internal.hpp"
#include "call/job.hpp"
#include "call/json_text.hpp"
#include "client/group.hpp"
#include "client/operation_arguments.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

JsonObject fields_of(py::handle fields, const py::dict& more) {
  JsonObject out;
  const auto add = [&out](py::handle name, py::handle value) {
    const auto key = utf8(name, "the name of a field");
    if (key == "price" && !value.is_none()) {
      out.set(key, integer(value, "price"));  // money must be an integer: a float or bool is a mistake
    } else {
      out.set_json(key, json_text(value, std::string(key).c_str()));
    }
  };
  if (given(fields)) {
    for (const auto entry : members_of(fields, "fields must be a mapping of names to values")) {
      const auto [name, value] = py::cast<std::pair<py::object, py::object>>(entry);
      add(name, value);
    }
  }
  for (const auto& [name, value] : more) add(name, value);
  return out;
}

/// Reads pages of orders, latest first, until the search for a charge is complete: see ChargeSearch.
class ChargesJob final : public Job {
 public:
  ChargesJob(const Client& client, ChargeSearch search, CallOptions options)
      : Job(std::move(options)), search_(std::move(search)), timeout_(internal::timeout(client, this->options())) {
    search_.limit(this->options().total_timeout.value_or(timeout_));
  }
  [[nodiscard]] std::optional<Operation> next() override {
    auto page = search_.next();
    if (page) set_timeout(std::min(timeout_, search_.time_left()));
    return page;
  }
  void take(Completed& completed) override { search_.take(completed); }
  [[nodiscard]] py::object result() override {
    py::list out;
    for (const auto& order : search_.result()) out.append(view(View::order, order.value()));
    return out;
  }

 private:
  ChargeSearch search_;
  std::chrono::milliseconds timeout_;  // of each page
};

// Converts a Python exception, which another client or another process may have raised, to the core's Error.
Error core_error(py::handle error) {
  const auto text = [error](const char* name) {
    const auto value = py::getattr(error, name, py::none());
    return PyUnicode_Check(value.ptr()) ? std::string(utf8(value, name)) : std::string();
  };
  ErrorDetail detail;
  detail.method = text("method");
  detail.path = text("path");
  detail.outcome_unknown = py::getattr(error, "outcome_unknown", py::none()).ptr() == Py_True;
  const auto time = [error](const char* name) -> std::optional<Instant> {
    const auto value = py::getattr(error, name, py::none());
    if (value.is_none()) return std::nullopt;
    return to_instant(value, (std::string(name) + " of the error").c_str());
  };
  detail.attempted_at = time("attempted_at");
  detail.service_time = time("service_time");
  return {ErrorCode::outcome_unknown, {}, std::move(detail)};
}

std::chrono::microseconds skew_of(py::handle value) {
  if (left_out(value)) return std::chrono::minutes(5);
  if (const auto length = duration_of(value, "skew")) return *length;
  refuse("skew must be seconds or a timedelta, not " + type_name(value));
}

ChargeSearch charge_search(py::handle charge, py::handle skew, py::handle since, py::handle product) {
  const auto product_id = optional_integer(product, "product_id");
  if (PyExceptionInstance_Check(charge.ptr())) {
    if (!left_out(since))
      refuse("since goes with an id: an error knows when its charge was sent, pass skew to look further back");
    return operations::find_charges(core_error(charge), skew_of(skew), product_id);
  }
  if (!PyUnicode_Check(charge.ptr()) && PyIndex_Check(charge.ptr()) == 0) {
    refuse("charge must be the error of a charge or the id of a subscription, not " + type_name(charge));
  }
  if (!left_out(skew)) refuse("skew goes with an error: with an id, pass an earlier since");
  if (left_out(since)) refuse("since is missing: pass an aware datetime of before the charge was sent");
  return operations::find_charges(id_of(charge), to_instant(since, "since"), product_id);
}

}  // namespace

// A keyword that is not a field of the interface is probably a typo, which the service would silently ignore.
void require_known(const char* function, const py::dict& more, std::span<const char* const> names) {
  for (const auto& [key, value] : more) {
    const auto name = utf8(key, "a keyword");
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    py::list known;
    for (const char* const each : names) known.append(each);
    const auto text = std::string(function) + "() got an unexpected keyword argument '" + std::string(name) + '\'';
    type_error(text + did_you_mean(name, known) + " Fields that the interface does not name go through the mapping.");
  }
}

namespace by_hand {

py::object subscriptions_find_charges(const BoundClient& self, const arguments::SubscriptionsFindCharges& from) {
  auto call = call_options(from.timeout, from.total_timeout);
  auto search = charge_search(from.charge, from.skew, from.since, from.product_id);
  auto job = std::make_unique<ChargesJob>(self.client, std::move(search), std::move(call));
  return run(self, std::move(job), "Subscriptions.find_charges");
}

py::object products_update(const BoundClient& self, const arguments::ProductsUpdate& from, const py::dict& more) {
  const auto id = integer(from.id, "id");
  return resource(self, View::product, operations::products::update(id, fields_of(from.fields, more)), from.timeout,
                  "Products.update");
}

}  // namespace by_hand

}  // namespace billcore::python
