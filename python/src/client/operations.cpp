// The operations of the service, by group.
#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "billcore/charges.hpp"
#include "call/job.hpp"
#include "call/json_text.hpp"
#include "client/arguments.hpp"
#include "client/client.hpp"
#include "client/options.hpp"
#include "paging/list.hpp"
#include "paging/pager.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

Id id_of(py::handle value) {
  if (PyUnicode_Check(value.ptr())) return Id(utf8(value, "id"));
  if (PyBool_Check(value.ptr()) || PyIndex_Check(value.ptr()) == 0) {
    refuse("id must be a str or an int, not " + type_name(value));
  }
  return Id::from_digits(digits(value, "id"));
}

std::optional<std::int64_t> optional_integer(py::handle value, const char* name) {
  if (!given(value)) return std::nullopt;
  return integer(value, name);
}

std::optional<std::string> optional_text(py::handle value, const char* name) {
  if (!given(value)) return std::nullopt;
  return std::string(utf8(value, name));
}

// The arguments page, strict and resume. The options borrow the text of resume from its object.
detail::PagerOptions pager_options(py::handle page, py::handle strict, py::handle resume) {
  detail::PagerOptions options;
  if (!left_out(page)) options.first_page = integer(page, "page");
  if (!left_out(strict)) options.strict = boolean(strict, "strict");
  if (given(resume)) options.resume = utf8(resume, "resume");
  return options;
}

std::string state_of(py::handle value) {
  const auto state = utf8(value, "state");
  if (state.find(',') != std::string_view::npos) {
    refuse("state has a comma in it: pass several states as a sequence, state=[\"paid\", \"confirmed\"]");
  }
  return std::string(state);
}

std::vector<std::string> states_of(py::handle value) {
  if (!given(value)) return {};
  if (PyUnicode_Check(value.ptr())) return {state_of(value)};
  if (PySequence_Check(value.ptr()) == 0) refuse("state must be a str or a sequence of them, not " + type_name(value));
  std::vector<std::string> out;
  for (const auto state : value) out.push_back(state_of(state));
  // Refused, because an empty computed list would otherwise mean "all orders".
  if (out.empty()) refuse("state is an empty sequence: leave it out for orders in every state");
  return out;
}

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
    if (PyMapping_Check(fields.ptr()) == 0 || PyObject_HasAttrString(fields.ptr(), "items") == 0) {
      refuse("fields must be a mapping of names to values, not " + type_name(fields));
    }
    for (const auto entry : fields.attr("items")()) {
      const auto pair = py::reinterpret_borrow<py::sequence>(entry);
      add(py::object(pair[0]), py::object(pair[1]));
    }
  }
  for (const auto& [name, value] : more) add(name, value);
  return out;
}

// A keyword that no field of the interface has is a slip of the pen, which the service would ignore in silence.
void require_known(const char* function, const py::dict& more, std::span<const char* const> names) {
  for (const auto& [key, value] : more) {
    const auto name = utf8(key, "a keyword");
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    py::list known;
    for (const char* const each : names) known.append(each);
    const py::object near = py::module_::import("difflib").attr("get_close_matches")(key, known, 1);
    auto text = std::string(function) + "() got an unexpected keyword argument '" + std::string(name) + '\'';
    for (const auto match : near) text += ": did you mean '" + match.cast<std::string>() + "'?";
    throw py::type_error(text + " Fields that the interface does not name go through the mapping.");
  }
}

/// Adds a method with the signature of `Arguments` that calls `body(self, arguments)`, or `body(self, arguments, more)` with
/// the keywords that match no parameter.
template <typename Arguments, typename Group, typename Body>
void define(py::class_<Group>& type, Body body) {
  const std::string_view text(Arguments::signature);
  const std::string name(text.substr(0, text.find('(')));
  const Signature read(Arguments::signature);
  const bool takes_more = text.find("**") != std::string_view::npos;
  type.def(
      name.c_str(),
      [read, body, takes_more](const Group& self, const py::args& args, const py::kwargs& kwargs) -> py::object {
        py::dict more;
        const Arguments from(takes_more ? read.bind(args, kwargs, more) : read.bind(args, kwargs));
        if constexpr (requires { Arguments::keywords; }) {
          require_known(read.name(), more, Arguments::keywords);
        }
        if constexpr (std::is_invocable_v<Body, const Group&, const Arguments&, const py::dict&>) {
          return body(self, from, more);
        } else {
          return body(self, from);
        }
      },
      read.doc(Arguments::doc).c_str());
}

// The groups of Client and of AsyncClient; their types differ only in name.
enum class Waiting { blocking, awaited };
template <Waiting>
struct Subscriptions : Sender {};
template <Waiting>
struct Products : Sender {};
template <Waiting>
struct Orders : Sender {};
template <Waiting>
struct WebhookEndpoints : Sender {};

template <typename Group>
py::class_<Group> group(py::module_& module, Waiting kind, const std::string& name, const char* doc) {
  auto type = py::class_<Group>(module, ((kind == Waiting::awaited ? "Async" : "") + name).c_str(), py::is_final(),
                                collected<Group>(), doc);
  type.attr("__module__") = "billcore";
  refuse_copies(type, "it belongs to a client, which holds an API key");
  return type;
}

template <template <Waiting> typename Group>
py::object make_group(Sender sender) {
  if (sender.is_awaited()) return py::cast(Group<Waiting::awaited>{std::move(sender)});
  return py::cast(Group<Waiting::blocking>{std::move(sender)});
}

py::object resource(const Sender& sender, View type, Operation operation, py::handle timeout, const char* name) {
  return run(sender, std::make_unique<ResourceJob>(type, std::move(operation), call_options(timeout)), name);
}

/// Reads orders, latest first, until it is sure that none is missing.
class ChargesJob final : public Job {
 public:
  ChargesJob(const Client& client, ChargeSearch search, CallOptions options)
      : Job(std::move(options)), search_(std::move(search)) {
    search_.limit(internal::timeout(client, this->options()));
  }
  [[nodiscard]] std::optional<Operation> next() override {
    auto page = search_.next();
    if (page) set_timeout(search_.time_left());
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
};

// The core's form of an error of Python. Another client or another process may have raised it.
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

template <Waiting kind>
void bind_subscriptions(py::module_& module) {
  using Group = Subscriptions<kind>;
  auto type = group<Group>(module, kind, "Subscriptions", docs::about_subscriptions);
  define<arguments::SubscriptionsList>(type, [](const Group& self, const arguments::SubscriptionsList& from) {
    SubscriptionQuery query;
    query.reference_id = optional_text(from.reference_id, "reference_id");
    return make_pager(self, View::subscription, operations::list_subscriptions(query),
                      pager_options(from.page, from.strict, from.resume), call_options(from.timeout));
  });
  define<arguments::SubscriptionsGet>(type, [](const Group& self, const arguments::SubscriptionsGet& from) {
    return resource(self, View::subscription, operations::get_subscription(id_of(from.id)), from.timeout,
                    "Subscriptions.get");
  });
  define<arguments::SubscriptionsCancel>(type, [](const Group& self, const arguments::SubscriptionsCancel& from) {
    return resource(self, View::subscription, operations::cancel_subscription(id_of(from.id)), from.timeout,
                    "Subscriptions.cancel");
  });
  define<arguments::SubscriptionsChangeProduct>(
      type, [](const Group& self, const arguments::SubscriptionsChangeProduct& from) {
        const auto id = id_of(from.id);
        const auto product = integer(from.product_id, "product_id");
        return resource(self, View::subscription, operations::change_subscription_product(id, product), from.timeout,
                        "Subscriptions.change_product");
      });
  define<arguments::SubscriptionsCharge>(type, [](const Group& self, const arguments::SubscriptionsCharge& from) {
    const auto id = id_of(from.id);
    Charge charge;
    charge.product_id = integer(from.product_id, "product_id");
    charge.amount = integer(from.amount, "amount");
    charge.quantity = optional_integer(from.quantity, "quantity");
    charge.vat = optional_integer(from.vat, "vat");
    charge.description = optional_text(from.description, "description");
    return resource(self, View::order, operations::charge_subscription(id, charge), from.timeout,
                    "Subscriptions.charge");
  });
  define<arguments::SubscriptionsFindCharges>(
      type, [](const Group& self, const arguments::SubscriptionsFindCharges& from) {
        auto call = call_options(from.timeout);
        auto search = charge_search(from.charge, from.skew, from.since, from.product_id);
        auto job = std::make_unique<ChargesJob>(self.client, std::move(search), std::move(call));
        return run(self, std::move(job), "Subscriptions.find_charges");
      });
  define<arguments::SubscriptionsOrders>(type, [](const Group& self, const arguments::SubscriptionsOrders& from) {
    OrderQuery query;
    query.product_id = optional_integer(from.product_id, "product_id");
    query.states = states_of(from.state);
    query.per_page = optional_integer(from.per_page, "per_page");
    return make_pager(self, View::order, operations::list_orders(id_of(from.id), query),
                      pager_options(from.page, from.strict, from.resume), call_options(from.timeout));
  });
}

template <Waiting kind>
void bind_products(py::module_& module) {
  using Group = Products<kind>;
  auto type = group<Group>(module, kind, "Products", docs::about_products);
  define<arguments::ProductsList>(type, [](const Group& self, const arguments::ProductsList& from) {
    return make_pager(self, View::product, operations::list_products(),
                      pager_options(from.page, from.strict, from.resume), call_options(from.timeout));
  });
  define<arguments::ProductsGet>(type, [](const Group& self, const arguments::ProductsGet& from) {
    return resource(self, View::product, operations::get_product(integer(from.id, "id")), from.timeout, "Products.get");
  });
  define<arguments::ProductsUpdate>(
      type, [](const Group& self, const arguments::ProductsUpdate& from, const py::dict& more) {
        const auto id = integer(from.id, "id");
        return resource(self, View::product, operations::update_product(id, fields_of(from.fields, more)), from.timeout,
                        "Products.update");
      });
  define<arguments::ProductsDelete>(type, [](const Group& self, const arguments::ProductsDelete& from) {
    auto operation = operations::delete_product(integer(from.id, "id"));
    return run(self, std::make_unique<EmptyJob>(std::move(operation), call_options(from.timeout)), "Products.delete");
  });
}

template <Waiting kind>
void bind_orders(py::module_& module) {
  using Group = Orders<kind>;
  auto type = group<Group>(module, kind, "Orders", docs::about_orders);
  define<arguments::OrdersGet>(type, [](const Group& self, const arguments::OrdersGet& from) {
    return resource(self, View::order, operations::get_order(id_of(from.id)), from.timeout, "Orders.get");
  });
}

template <Waiting kind>
void bind_webhook_endpoints(py::module_& module) {
  using Group = WebhookEndpoints<kind>;
  auto type = group<Group>(module, kind, "WebhookEndpoints", docs::about_webhook_endpoints);
  define<arguments::WebhookEndpointsCreate>(type, [](const Group& self, const arguments::WebhookEndpointsCreate& from) {
    auto operation = operations::create_webhook_endpoint(utf8(from.url, "url"));
    return run(self, std::make_unique<ResponseJob>(std::move(operation), true, call_options(from.timeout)),
               "WebhookEndpoints.create");
  });
}

template <Waiting kind>
void bind_groups(py::module_& module) {
  bind_subscriptions<kind>(module);
  bind_products<kind>(module);
  bind_orders<kind>(module);
  bind_webhook_endpoints<kind>(module);
}

}  // namespace

py::object make_subscriptions(Sender sender) { return make_group<Subscriptions>(std::move(sender)); }
py::object make_products(Sender sender) { return make_group<Products>(std::move(sender)); }
py::object make_orders(Sender sender) { return make_group<Orders>(std::move(sender)); }
py::object make_webhook_endpoints(Sender sender) { return make_group<WebhookEndpoints>(std::move(sender)); }

void bind_operations(py::module_& module) {
  bind_groups<Waiting::blocking>(module);
  bind_groups<Waiting::awaited>(module);
}

}  // namespace billcore::python
