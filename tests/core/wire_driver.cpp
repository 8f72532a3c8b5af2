// The conformance driver in C++: one JSON request a line on stdin, one JSON reply a line on stdout (see
// tests/conformance).
#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>

#include "billcore/client.hpp"
#include "billcore/webhook.hpp"
#include "support/json_text.hpp"
#include "support/read_path.hpp"

namespace billcore::test {
namespace {

std::optional<std::int64_t> number(const Value& args, std::string_view name) {
  const auto found = args.find(name);
  return found ? std::optional(found->integer()) : std::nullopt;
}

std::optional<std::string> text(const Value& args, std::string_view name) {
  const auto found = args.find(name);
  return found ? std::optional(std::string(found->text())) : std::nullopt;
}

bool flag(const Value& args, std::string_view name, bool otherwise) {
  const auto found = args.find(name);
  return found ? found->boolean() : otherwise;
}

std::vector<std::pair<std::string, std::string>> text_pairs(const Value& args, std::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  if (const auto found = args.find(name)) {
    for (const auto member : *found) {
      const auto value = member.value();
      out.emplace_back(member.name, value.kind() == Value::Kind::string ? value.text() : value.raw());
    }
  }
  return out;
}

ClientOptions client_options(const Value& from) {
  ClientOptions options;
  options.base_url = text(from, "base_url").value_or("");
  options.api_key = text(from, "api_key").value_or("");
  if (const auto timeout = from.find("timeout")) {
    options.timeout.reset();
    if (!timeout->is_null()) options.timeout = std::chrono::milliseconds(std::llround(timeout->real() * 1000));
  }
  options.ca_bundle = text(from, "ca_bundle");
  options.headers = text_pairs(from, "headers");
  options.http2 = flag(from, "http2", options.http2);
  options.allow_insecure_http = flag(from, "allow_insecure_http", options.allow_insecure_http);
  options.request_id_header = text(from, "request_id_header").value_or(options.request_id_header);
  if (const auto limit = number(from, "max_response")) options.max_response = static_cast<std::size_t>(*limit);
  return options;
}

std::string error_reply(const Error& error, std::optional<std::size_t> items_before) {
  const auto& detail = error.detail();
  JsonObject out;
  out.set("class", class_of(error.code())).set("status", static_cast<std::int64_t>(error.code()));
  out.set("message", error.what());
  if (detail.http_status != 0) out.set("http_status", detail.http_status);
  const auto put = [&out](std::string_view name, const std::string& value) {
    if (!value.empty()) out.set(name, value);
  };
  put("api_code", detail.api_code);
  put("api_message", detail.api_message);
  put("body", detail.body);
  put("request_id", detail.request_id);
  if (detail.retry_after) out.set_json("retry_after", std::to_string(*detail.retry_after));
  if (detail.reason != SignatureReason::none) out.set("reason", to_string(detail.reason));
  out.set("outcome_unknown", detail.outcome_unknown);
  put("method", detail.method);
  put("path", detail.path);
  if (detail.cause != ErrorCode::ok) out.set("cause", class_of(detail.cause));
  if (items_before) out.set("items_before", static_cast<std::int64_t>(*items_before));
  return "{\"error\":" + out.dump() + '}';
}

class Driver {
 public:
  std::string run(const Value& request) {
    items_.clear();
    listing_ = false;
    try {
      return "{\"ok\":" + call(request) + '}';
    } catch (const Error& error) {
      return error_reply(error, listing_ ? std::optional(items_.size()) : std::nullopt);
    }
  }

 private:
  std::string call(const Value& request) {
    const auto op = request.find("op").value().text();
    const auto found = request.find("args");
    const auto args = found ? *found : parse("{}");
    if (op.starts_with("webhook.")) return webhook(op.substr(8), args);
    const auto& client = connect(request.find("client").value());
    if (op.ends_with(".list") || op == "subscriptions.orders") {
      listing_ = true;
      return list(client, op, args, request.find("take").value());
    }
    if (op == "subscriptions.get") return raw(client.subscriptions().get(id(args)));
    if (op == "subscriptions.cancel") return raw(client.subscriptions().cancel(id(args)));
    if (op == "subscriptions.change_product") {
      return raw(client.subscriptions().change_product(id(args), number(args, "product_id").value()));
    }
    if (op == "subscriptions.charge") {
      const Charge charge{number(args, "product_id").value(), number(args, "amount").value(), number(args, "quantity"),
                          number(args, "vat"), text(args, "description")};
      return raw(client.subscriptions().charge(id(args), charge));
    }
    if (op == "products.get") return raw(client.products().get(number(args, "id").value()));
    if (op == "products.update") {
      JsonObject fields;
      const auto given = args.find("fields").value();
      for (const auto member : given) fields.set_json(member.name, member.value().raw());
      return raw(client.products().update(number(args, "id").value(), fields));
    }
    if (op == "products.delete") {
      client.products().remove(number(args, "id").value());
      return "null";
    }
    if (op == "orders.get") return raw(client.orders().get(id(args)));
    if (op == "webhook_endpoints.create") return response(client.webhook_endpoints().create(text(args, "url").value()));
    if (op == "request") {
      RequestOptions options{text_pairs(args, "query"), std::nullopt, flag(args, "raise_on_error", true)};
      if (const auto json = args.find("json")) options.json = std::string(json->raw());
      return response(client.request(text(args, "method").value(), text(args, "path").value(), options));
    }
    throw std::runtime_error("unknown op " + std::string(op));
  }

  const Client& connect(const Value& options) {
    if (!client_ || made_with_ != options.raw()) {
      client_.reset();
      client_.emplace(client_options(options));
      made_with_ = options.raw();
    }
    return *client_;
  }

  std::string list(const Client& client, std::string_view op, const Value& args, const Value& take) {
    const auto page = number(args, "page").value_or(1);
    if (op == "subscriptions.list") return read(client.subscriptions().list({text(args, "reference_id"), page}), take);
    if (op == "products.list") return read(client.products().list({page}), take);
    OrderQuery query{number(args, "product_id"), {}, number(args, "per_page"), page};
    if (const auto state = args.find("state")) {
      if (state->kind() == Value::Kind::string) query.states.emplace_back(state->text());
      if (state->is_array()) {
        for (const auto one : *state) query.states.emplace_back(one.value().text());
      }
    }
    return read(client.subscriptions().orders(id(args), query), take);
  }

  template <typename T>
  std::string read(Pager<T> pager, const Value& take) {
    if (take.kind() == Value::Kind::integer) {
      for (const auto& item : pager.collect(static_cast<std::size_t>(take.integer()))) items_.push_back(raw(item));
    } else if (take.text() == "first") {
      if (const auto item = pager.first()) items_.push_back(raw(*item));
    } else {
      for (const auto& item : pager) items_.push_back(raw(item));
    }
    JsonObject out;
    out.set_json("items", array_of(items_)).set_null("verdict").set_null("reason").set_null("total");
    if (const auto verdict = pager.verdict()) {
      out.set("verdict", verdict->complete ? "complete" : "possibly_missed");
      if (!verdict->complete) out.set("reason", verdict->reason);
    }
    if (const auto total = pager.total()) out.set("total", *total);
    return out.set("fetched_pages", pager.fetched_pages()).dump();
  }

  static std::string webhook(std::string_view verb, const Value& args) {
    const auto body = base64_decoded(args.find("body_b64").value().text());
    if (verb == "sign") {
      return "{\"signature\":" + quoted(webhooks::sign(body, bytes_of(args.find("secret").value()))) + '}';
    }
    std::vector<std::string> secrets;
    const auto given_secrets = args.find("secrets").value();
    for (const auto secret : given_secrets) secrets.push_back(bytes_of(secret.value()));
    VerifierOptions options;
    if (const auto limit = number(args, "max_body")) options.max_body = static_cast<std::size_t>(*limit);
    const Verifier verifier(std::vector<std::string_view>(secrets.begin(), secrets.end()), options);
    std::optional<std::string> signature;
    if (const auto given = args.find("signature"); given && !given->is_null()) signature = bytes_of(*given);
    const std::optional<std::string_view> header(signature);
    if (verb == "verify") {
      return "{\"secret_index\":" + std::to_string(verifier.verify(body, header).secret_index()) + '}';
    }
    const auto event = verifier.unwrap(body, header);
    if (event.raw() != body) throw std::runtime_error("raw() is not the body");
    JsonObject read;
    const auto paths = args.find("read").value();
    for (const auto path : paths) {
      read.set_json(path.value().text(), read_path(event, path.value().text()));
    }
    return "{\"read\":" + read.dump() + '}';
  }

  static Id id(const Value& args) { return read_id(args.find("id").value()); }
  static std::string raw(const Resource& resource) { return std::string(resource.raw()); }
  static std::string response(const Response& response) {
    JsonObject headers;
    for (const auto& [name, value] : response.headers()) headers.set(name, value);
    JsonObject out;
    out.set("status", response.status()).set_json("headers", headers.dump()).set("body", response.body());
    return out.dump();
  }

  std::optional<Client> client_;
  std::string made_with_;
  std::vector<std::string> items_;
  bool listing_ = false;
};

}  // namespace
}  // namespace billcore::test

int main() {
  billcore::test::Driver driver;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << driver.run(billcore::test::parse(line)) << std::endl;
  }
  return 0;
}
