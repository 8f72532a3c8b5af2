// The conformance driver in C++: reads one JSON request per line from stdin, writes one JSON reply per line to stdout
// (see tests/conformance).
#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/webhook.hpp"
#include "support/json_text.hpp"
#include "support/read_list.hpp"
#include "support/read_path.hpp"
#include "support/wire_charges.hpp"
#include "support/wire_operations.hpp"

namespace billcore::test {
namespace {

std::optional<std::string> optional_bytes(const Value& args, std::string_view name) {
  const auto given = args.find(name);
  return given && !given->is_null() ? std::optional(bytes_of(*given)) : std::nullopt;
}

// The time-out that `from` states; nullopt if it states none.
std::optional<std::chrono::milliseconds> stated_timeout(const Value& from, std::string_view name = "timeout") {
  const auto timeout = from.find(name);
  if (!timeout) return std::nullopt;
  if (timeout->is_null()) return no_timeout;
  return std::chrono::milliseconds(std::llround(timeout->real() * 1000));
}

ClientOptions client_options(const Value& from) {
  ClientOptions options;
  options.base_url = text(from, "base_url").value_or("");
  options.api_key = text(from, "api_key").value_or("");
  options.timeout = stated_timeout(from).value_or(options.timeout);
  if (const auto retries = number(from, "max_retries")) options.max_retries = static_cast<int>(*retries);
  // concurrency is 1 by default, because the test server sends its canned answers in order.
  options.concurrency = static_cast<int>(number(from, "concurrency").value_or(1));
  options.proxy = text(from, "proxy");
  options.ca_bundle = text(from, "ca_bundle");
  options.client_certificate = text(from, "client_certificate");
  options.headers = text_pairs(from, "headers");
  if (from.find("http2")) options.http2 = flag(from, "http2", false);
  options.allow_insecure_http = flag(from, "allow_insecure_http", options.allow_insecure_http);
  options.request_id_header = text(from, "request_id_header").value_or(options.request_id_header);
  if (const auto limit = number(from, "max_response")) options.max_response = static_cast<std::size_t>(*limit);
  return options;
}

// How far the driver had read a list when an error occurred.
struct Progress {
  std::vector<std::string> items;  // the items before the error
  std::string state;               // state of the list; empty if the operation read no list
};

JsonObject error_object(const Error& error) {
  const auto& detail = error.detail();
  JsonObject out;
  out.set("class", class_of(error.code())).set("status", static_cast<std::int64_t>(error.code()));
  out.set("message", error.what());
  if (detail.http_status != 0) out.set("http_status", detail.http_status);
  if (detail.attempts != 0) out.set("attempts", detail.attempts);
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
  out.set("sent_late", detail.sent_late);
  put("method", detail.method);
  put("path", detail.path);
  if (detail.cause != ErrorCode::ok) out.set("cause", class_of(detail.cause));
  return out;
}

std::string error_reply(const Error& error, const std::optional<Progress>& progress) {
  auto out = error_object(error);
  if (progress) {
    out.set("items_before", static_cast<std::int64_t>(progress->items.size()));
    out.set_json("items", array_of(progress->items));
    if (!progress->state.empty()) out.set("state", progress->state);
  }
  return "{\"error\":" + out.dump() + '}';
}

class Driver {
 public:
  std::string run(const Value& request) {
    items_.clear();
    state_.clear();
    listing_ = false;
    try {
      return "{\"ok\":" + call(request) + '}';
    } catch (const Error& error) {
      return error_reply(error, listing_ ? std::optional(Progress{items_, state_}) : std::nullopt);
    }
  }

 private:
  std::string call(const Value& request) {
    const auto op = request.find("op").value().text();
    const auto found = request.find("args");
    const auto args = found ? *found : parse("{}");
    if (op.starts_with("webhook.")) return webhook(op.substr(8), args);
    // A time-out of this call alone needs a client of its own, which shares the connections of `shared`.
    const auto& shared = connect(request.find("client").value());
    const auto timeout = stated_timeout(request);
    const auto own = timeout ? std::optional(shared.with_options({.timeout = timeout})) : std::nullopt;
    const auto& client = own ? *own : shared;
    const auto list = [&]<typename T>(Pager<T> pager) {
      listing_ = true;
      return read(std::move(pager), request.find("take").value());
    };
    if (const auto reply = run_operation(client, op, args, list)) return *reply;
    if (op == "subscriptions.get_many") return read_many(client.subscriptions(), request, args);
    if (op == "products.get_many") return read_many(client.products(), request, args);
    if (op == "orders.get_many") return read_many(client.orders(), request, args);
    if (op == "products.update") {
      JsonObject fields;
      const auto given = args.find("fields").value();
      for (const auto member : given) fields.set_json(member.name, member.value().raw());
      return raw(client.products().update(number(args, "id").value(), fields));
    }
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

  template <typename T>
  std::string read(Pager<T> pager, const Value& take) {
    try {
      read_list(pager, take, items_);
    } catch (const Error&) {
      state_ = pager.state();
      throw;
    }
    JsonObject out;
    out.set_json("items", array_of(items_)).set_null("verdict").set_null("reason").set_null("total");
    if (const auto verdict = pager.verdict()) {
      out.set("verdict", verdict->complete ? "complete" : "possibly_missed");
      if (!verdict->complete) out.set("reason", verdict->reason);
    }
    if (const auto total = pager.total()) out.set("total", *total);
    return out.set("fetched_pages", pager.fetched_pages()).set("state", pager.state()).dump();
  }

  template <typename Group>
  std::string read_many(const Group& group, const Value& request, const Value& args) {
    std::vector<Id> ids;
    const auto given = args.find("ids").value();
    for (const auto id : given) ids.push_back(read_id(id.value()));
    ManyOptions options;
    options.concurrency = static_cast<int>(number(args, "concurrency").value_or(options.concurrency));
    options.ordered = flag(args, "ordered", options.ordered);
    listing_ = true;
    for (auto& got : group.get_many(ids, options, {.total_timeout = stated_timeout(request, "total_timeout")})) {
      JsonObject out;
      out.set_json("id", got.id.is_integer() ? std::string(got.id.text()) : quoted(got.id.text()));
      out.set_json(got.value ? "ok" : "error", got.value ? raw(*got.value) : error_object(*got.error).dump());
      items_.push_back(out.dump());
    }
    return array_of(items_);
  }

  static Verifier make_verifier(const Value& args) {
    VerifierOptions options;
    if (const auto limit = number(args, "max_body")) options.max_body = static_cast<std::size_t>(*limit);
    if (const auto seconds = args.find("freshness")) {
      options.freshness = std::chrono::microseconds(std::llround(seconds->real() * 1'000'000));
    }
    if (const auto now = number(args, "now")) {
      options.clock = [now] {
        return std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(*now));
      };
    }
    if (const auto given = args.find("accounts")) {
      std::vector<std::pair<std::string, std::vector<std::string>>> kept;
      for (const auto each : *given) {
        kept.emplace_back(read_id(each.value().find("account").value()).text(), texts(each.value(), "secrets"));
      }
      std::vector<AccountSecrets> accounts;
      for (const auto& [account, own] : kept) accounts.push_back({account, {own.begin(), own.end()}});
      return Verifier::for_accounts(accounts, options);
    }
    const auto secrets = texts(args, "secrets");
    const std::vector<std::string_view> views(secrets.begin(), secrets.end());
    if (flag(args, "any_key_length", false)) return Verifier::allowing_any_key_length(views, options);
    return Verifier(views, options);
  }

  static std::string webhook(std::string_view verb, const Value& args) {
    if (verb == "matches") return matches(make_verifier(args), args);
    const auto body = base64_decoded(args.find("body_b64").value().text());
    if (verb == "sign") {
      return "{\"signature\":" + quoted(webhooks::sign(body, bytes_of(args.find("secret").value()))) + '}';
    }
    if (verb == "parse_unverified") return read_event(webhooks::parse_unverified(body), body, args);
    const auto signature = optional_bytes(args, "signature");
    if (verb == "explain") {
      const auto secrets = texts(args, "secrets");
      const std::vector<std::string_view> views(secrets.begin(), secrets.end());
      const auto fields = header_fields(args);
      const std::vector<std::pair<std::string_view, std::string_view>> headers(fields.begin(), fields.end());
      return "{\"text\":" + quoted(webhooks::explain(body, signature, views, headers)) + '}';
    }
    const auto verifier = make_verifier(args);
    if (verb == "verify") {
      return "{\"secret_index\":" + std::to_string(verifier.verify(body, signature).secret_index()) + '}';
    }
    if (verb == "stream") return stream(verifier.stream(), body, signature, args);
    if (verb == "unwrap") return read_event(verifier.unwrap(body, signature), body, args);
    if (verb != "unwrap_request") throw std::runtime_error("unknown op webhook." + std::string(verb));
    const auto fields = header_fields(args);
    const std::vector<std::pair<std::string_view, std::string_view>> headers(fields.begin(), fields.end());
    return read_event(verifier.unwrap_request(body, headers), body, args);
  }

  static std::vector<std::pair<std::string, std::string>> header_fields(const Value& args) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto given = args.find("headers");
    if (!given) return out;
    for (const auto field : *given) out.emplace_back(bytes_of(field.value().at(0)), bytes_of(field.value().at(1)));
    return out;
  }

  static std::string stream(VerifyStream stream, std::string_view body, std::optional<std::string_view> signature,
                            const Value& args) {
    const auto sizes = args.find("chunks").value();
    for (const auto size : sizes) {
      const auto piece = body.substr(0, static_cast<std::size_t>(size.value().integer()));
      stream.update(piece);
      body.remove_prefix(piece.size());
    }
    stream.update(body);
    return "{\"secret_index\":" + std::to_string(stream.finish(signature)) + '}';
  }

  static std::string matches(const Verifier& verifier, const Value& args) {
    const auto deliveries = args.find("deliveries").value();
    for (const auto delivery : deliveries) {
      const auto given = delivery.value();
      const auto body = base64_decoded(given.find("body_b64").value().text());
      try {
        static_cast<void>(verifier.unwrap(body, optional_bytes(given, "signature")));
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch) only the match counts matter
      }
    }
    std::vector<std::string> counts;
    for (const auto count : verifier.matches()) counts.push_back(std::to_string(count));
    return "{\"matches\":" + array_of(counts) + '}';
  }

  static std::string read_event(const Event& event, std::string_view body, const Value& args) {
    if (event.raw() != body) throw std::runtime_error("raw() is not the body");
    JsonObject read;
    const auto paths = args.find("read").value();
    for (const auto path : paths) {
      read.set_json(path.value().text(), read_path(event, path.value().text()));
    }
    return "{\"read\":" + read.dump() + '}';
  }

  std::optional<Client> client_;
  std::string made_with_;
  std::vector<std::string> items_;
  std::string state_;
  bool listing_ = false;
};

}  // namespace
}  // namespace billcore::test

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  if (argc == 7 && std::string_view(arguments[1]) == "charges")
    return billcore::test::run_charges(arguments.subspan(2));
  billcore::test::Driver driver;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << driver.run(billcore::test::parse(line)) << std::endl;
  }
  return 0;
}
