// The operations of the service, by group.
#include <vector>

#include "call/job.hpp"
#include "call/json_text.hpp"
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

// page, strict, resume. The text of resume lives as long as its object.
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
  // An empty list that was computed must not turn into "all orders".
  if (out.empty()) refuse("state is an empty sequence: leave it out for orders in every state");
  return out;
}

JsonObject fields_of(py::handle fields, const py::dict& more) {
  JsonObject out;
  const auto add = [&out](py::handle name, py::handle value) {
    const auto key = utf8(name, "the name of a field");
    if (key == "price" && !value.is_none()) {
      out.set(key, integer(value, "price"));  // money: a float or bool here is a mistake
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

using Values = std::vector<py::handle>;

/// Adds a method that reads its own arguments: `body(self, values, more)`.
template <typename Group, typename Body>
void define(py::class_<Group>& type, const char* signature, const char* doc, Body body) {
  const std::string_view text(signature);
  const std::string name(text.substr(0, text.find('(')));
  const Signature read(signature);
  const bool takes_more = text.find("**") != std::string_view::npos;
  type.def(
      name.c_str(),
      [read, body, takes_more](const Group& self, const py::args& args, const py::kwargs& kwargs) -> py::object {
        py::dict more;
        const auto values = takes_more ? read.bind(args, kwargs, more) : read.bind(args, kwargs);
        return body(self, values, more);
      },
      read.doc(doc).c_str());
}

// The groups: those of Client, and those of AsyncClient, whose types differ in name only.
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

/// Reads orders, latest first, until one is too old.
class ChargesJob final : public ListJob {
 public:
  ChargesJob(ListPtr list, Instant since) : ListJob(std::move(list)), since_(since) {}
  [[nodiscard]] bool has_enough() override { return internal::take_charges(flow(), since_, found_); }
  [[nodiscard]] py::object give() override {
    py::list out;
    for (const auto& order : found_) out.append(view(View::order, order));
    return out;
  }

 private:
  Instant since_;
  std::vector<Value> found_;
};

// What an error in Python says of its request; it need not be one that was raised by this client, nor in this process.
Error core_error(py::handle error) {
  const auto text = [error](const char* name) {
    const auto value = py::getattr(error, name, py::none());
    return PyUnicode_Check(value.ptr()) ? std::string(utf8(value, name)) : std::string();
  };
  ErrorDetail detail;
  detail.method = text("method");
  detail.path = text("path");
  detail.outcome_unknown = py::getattr(error, "outcome_unknown", py::none()).ptr() == Py_True;
  const auto attempted_at = py::getattr(error, "attempted_at", py::none());
  if (!attempted_at.is_none()) detail.attempted_at = to_instant(attempted_at, "attempted_at of the error");
  return {ErrorCode::outcome_unknown, {}, std::move(detail)};
}

std::chrono::microseconds skew_of(py::handle value) {
  if (left_out(value)) return std::chrono::minutes(5);
  if (const auto length = duration_of(value, "skew")) return *length;
  refuse("skew must be seconds or a timedelta, not " + type_name(value));
}

ChargeSearch charge_search(py::handle charge, py::handle skew, py::handle since) {
  if (PyExceptionInstance_Check(charge.ptr())) {
    if (!left_out(since))
      refuse("since goes with an id: an error knows when its charge was sent, pass skew to look further back");
    return operations::find_charges(core_error(charge), skew_of(skew));
  }
  if (!PyUnicode_Check(charge.ptr()) && PyIndex_Check(charge.ptr()) == 0) {
    refuse("charge must be the error of a charge or the id of a subscription, not " + type_name(charge));
  }
  if (!left_out(skew)) refuse("skew goes with an error: with an id, pass an earlier since");
  if (left_out(since)) refuse("since is missing: pass an aware datetime of before the charge was sent");
  return operations::find_charges(id_of(charge), to_instant(since, "since"));
}

py::object find_charges(const Sender& sender, ChargeSearch search, CallOptions call) {
  ClientChanges changes;
  changes.concurrency = 1;  // the first page nearly always holds them all
  const Sender one{sender.client.with_options(changes), sender.hooks, sender.waiter};
  ListPtr list(
      std::make_unique<List>(one, View::order, std::move(search.orders), detail::PagerOptions(), std::move(call)));
  return run(one, std::make_unique<ChargesJob>(std::move(list), search.since), "Subscriptions.find_charges");
}

template <Waiting kind>
void bind_subscriptions(py::module_& module) {
  using Group = Subscriptions<kind>;
  auto type = group<Group>(module, kind, "Subscriptions",
                           "Subscriptions of the account. Service interface: Endpoints, Subscriptions.");
  define(type, "list(self, *, reference_id=None, page=1, strict=False, resume=None, timeout=...)",
         "All subscriptions, lazily, page by page.\n\n"
         "reference_id: only those with exactly this one. page: where to begin. timeout: seconds for each page.\n"
         "strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.\n"
         "Service interface: Endpoints, Subscriptions.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           SubscriptionQuery query;
           query.reference_id = optional_text(values[0], "reference_id");
           return make_pager(self, View::subscription, operations::list_subscriptions(query),
                             pager_options(values[1], values[2], values[3]), call_options(values[4]));
         });
  define(type, "get(self, id, /, *, timeout=...)",
         "One subscription. Raises NotFoundError. Service interface: Endpoints, Subscriptions.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           return resource(self, View::subscription, operations::get_subscription(id_of(values[0])), values[1],
                           "Subscriptions.get");
         });
  define(type, "cancel(self, id, /, *, timeout=...)",
         "End billing at once; the subscription may stay active until ends_at.\n\n"
         "Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.\n"
         "Service interface: Endpoints, Subscriptions.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           return resource(self, View::subscription, operations::cancel_subscription(id_of(values[0])), values[1],
                           "Subscriptions.cancel");
         });
  define(type, "change_product(self, id, /, *, product_id, timeout=...)",
         "Swap the product for another one of the account.\n\n"
         "Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.\n"
         "Service interface: Endpoints, Subscriptions.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           const auto id = id_of(values[0]);
           const auto product = integer(values[1], "product_id");
           return resource(self, View::subscription, operations::change_subscription_product(id, product), values[2],
                           "Subscriptions.change_product");
         });
  define(
      type, "charge(self, id, /, *, product_id, amount, quantity=None, vat=None, description=None, timeout=...)",
      "Bill a one-off amount through the subscription's billing method.\n\n"
      "product_id: a one-time product of the account. amount: cents. vat: basis points (2500 = 25 %); left out, the\n"
      "service uses 2500. Sent at most once. Raises PaymentError (402) when the charge is refused, "
      "OutcomeUnknownError\n"
      "when it may or may not have been made: see find_charges() before charging again.\n"
      "Service interface: Endpoints, Subscriptions.",
      [](const Group& self, const Values& values, const py::dict& /*more*/) {
        const auto id = id_of(values[0]);
        Charge charge;
        charge.product_id = integer(values[1], "product_id");
        charge.amount = integer(values[2], "amount");
        charge.quantity = optional_integer(values[3], "quantity");
        charge.vat = optional_integer(values[4], "vat");
        charge.description = optional_text(values[5], "description");
        return resource(self, View::order, operations::charge_subscription(id, charge), values[6],
                        "Subscriptions.charge");
      });
  define(type, "find_charges(self, charge, /, *, skew=..., since=..., timeout=...)",
         "The orders that a charge of unknown outcome may have made: the subscription's since then, latest first.\n\n"
         "charge: the error of the charge (also one that was pickled), or the id of the subscription, such as after a\n"
         "crash. skew: with an error, by how much the service's clock may be behind this machine's: seconds or a\n"
         "timedelta; left out, 300. since: with an id, an aware datetime of before the charge was sent; from the\n"
         "beginning of its second. timeout: seconds for each page. An empty list says that the charge was not made, or "
         "not yet: the service may still work on it.\n"
         "Raises InvalidArgumentError for the error of anything but a charge, and for one whose outcome is known.\n"
         "Service interface: Endpoints, Subscriptions.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           return find_charges(self, charge_search(values[0], values[1], values[2]), call_options(values[3]));
         });
  define(type,
         "orders(self, id, /, *, product_id=None, state=None, per_page=None, page=1, strict=False, resume=None, "
         "timeout=...)",
         "The subscription's orders, latest first, lazily, page by page.\n\n"
         "state: one OrderState, or a sequence of several. per_page: 1 to 200. timeout: seconds for each page.\n"
         "strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.\n"
         "Service interface: Endpoints, Subscriptions; Limits.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           OrderQuery query;
           query.product_id = optional_integer(values[1], "product_id");
           query.states = states_of(values[2]);
           query.per_page = optional_integer(values[3], "per_page");
           return make_pager(self, View::order, operations::list_orders(id_of(values[0]), query),
                             pager_options(values[4], values[5], values[6]), call_options(values[7]));
         });
}

template <Waiting kind>
void bind_products(py::module_& module) {
  using Group = Products<kind>;
  auto type =
      group<Group>(module, kind, "Products", "Products of the account. Service interface: Endpoints, Products.");
  define(type, "list(self, *, page=1, strict=False, resume=None, timeout=...)",
         "All products, lazily, page by page.\n\n"
         "page: where to begin. timeout: seconds for each page.\n"
         "strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.\n"
         "Service interface: Endpoints, Products.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           return make_pager(self, View::product, operations::list_products(),
                             pager_options(values[0], values[1], values[2]), call_options(values[3]));
         });
  define(type, "get(self, id, /, *, timeout=...)",
         "One product. Raises NotFoundError. Service interface: Endpoints, Products.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           return resource(self, View::product, operations::get_product(integer(values[0], "id")), values[1],
                           "Products.get");
         });
  define(
      type, "update(self, id, fields=None, /, *, timeout=..., **more)",
      "Change the given fields only.\n\n"
      "They are name, description, price (cents), currency, vat_rate (percent), interval; others are accepted, too.\n"
      "fields: a mapping; keywords win over it. None is sent as null, Decimal with its digits. A field that is called\n"
      "timeout goes into the mapping. Sent at most once. Raises InvalidArgumentError when there is no field at all,\n"
      "OutcomeUnknownError when it may or may not have happened. Service interface: ProductWrite; Endpoints, Products.",
      [](const Group& self, const Values& values, const py::dict& more) {
        const auto id = integer(values[0], "id");
        return resource(self, View::product, operations::update_product(id, fields_of(values[1], more)), values[2],
                        "Products.update");
      });
  define(type, "delete(self, id, /, *, timeout=...)",
         "Delete a product (softly).\n\n"
         "Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.\n"
         "Service interface: Endpoints, Products.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           auto operation = operations::delete_product(integer(values[0], "id"));
           return run(self, std::make_unique<EmptyJob>(std::move(operation), call_options(values[1])),
                      "Products.delete");
         });
}

template <Waiting kind>
void bind_orders(py::module_& module) {
  using Group = Orders<kind>;
  auto type = group<Group>(module, kind, "Orders", "Orders of the account. Service interface: Endpoints, Orders.");
  define(type, "get(self, id, /, *, timeout=...)",
         "One order. Raises NotFoundError. Service interface: Endpoints, Orders.",
         [](const Group& self, const Values& values, const py::dict& /*more*/) {
           return resource(self, View::order, operations::get_order(id_of(values[0])), values[1], "Orders.get");
         });
}

template <Waiting kind>
void bind_webhook_endpoints(py::module_& module) {
  using Group = WebhookEndpoints<kind>;
  auto type = group<Group>(module, kind, "WebhookEndpoints",
                           "Receivers of events. Service interface: Endpoints, Webhook endpoints.");
  define(
      type, "create(self, *, url, timeout=...)",
      "Register a URL that receives signed events. Its secret is not in the answer: it is read from the admin UI.\n\n"
      "Sent at most once. Raises ValidationError (422) when the URL is invalid or already registered,\n"
      "OutcomeUnknownError when it may or may not have happened. Service interface: Endpoints, Webhook endpoints.",
      [](const Group& self, const Values& values, const py::dict& /*more*/) {
        auto operation = operations::create_webhook_endpoint(utf8(values[0], "url"));
        return run(self, std::make_unique<ResponseJob>(std::move(operation), true, call_options(values[1])),
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
