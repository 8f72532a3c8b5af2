// Arguments and replies of the operations of the conformance driver in C++.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "support/json_text.hpp"
#include "support/read_path.hpp"

namespace billcore::test {

inline std::optional<std::int64_t> number(const Value& args, std::string_view name) {
  const auto found = args.find(name);
  return found ? std::optional(found->integer()) : std::nullopt;
}

inline std::optional<std::string> text(const Value& args, std::string_view name) {
  const auto found = args.find(name);
  return found ? std::optional(std::string(found->text())) : std::nullopt;
}

inline bool flag(const Value& args, std::string_view name, bool otherwise) {
  const auto found = args.find(name);
  return found ? found->boolean() : otherwise;
}

inline std::vector<std::pair<std::string, std::string>> text_pairs(const Value& args, std::string_view name) {
  std::vector<std::pair<std::string, std::string>> out;
  if (const auto found = args.find(name)) {
    for (const auto member : *found) {
      const auto value = member.value();
      out.emplace_back(member.name, value.kind() == Value::Kind::string ? value.text() : value.raw());
    }
  }
  return out;
}

inline std::vector<std::string> texts(const Value& args, std::string_view name) {
  std::vector<std::string> out;
  const auto given = args.find(name).value();
  for (const auto one : given) out.push_back(bytes_of(one.value()));
  return out;
}

inline Id id_of(const Value& args) { return read_id(args.find("id").value()); }

inline std::vector<std::string> one_or_more(const Value& args, std::string_view name) {
  std::vector<std::string> out;
  const auto given = args.find(name);
  if (given && given->kind() == Value::Kind::string) out.emplace_back(given->text());
  if (given && given->is_array()) {
    for (const auto one : *given) out.emplace_back(one.value().text());
  }
  return out;
}

/// The arguments that every list operation accepts.
template <typename Query>
Query whole_list(const Value& args) {
  Query query;
  query.page = number(args, "page").value_or(1);
  query.strict = flag(args, "strict", false);
  query.resume = text(args, "resume");
  return query;
}

inline std::string raw(const Resource& resource) { return std::string(resource.raw()); }

inline std::string response(const Response& response) {
  JsonObject headers;
  for (const auto& [name, value] : response.headers()) headers.set(name, value);
  JsonObject out;
  out.set("status", response.status()).set_json("headers", headers.dump()).set("body", response.body());
  return out.dump();
}

}  // namespace billcore::test
