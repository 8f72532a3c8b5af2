#include "client/arguments.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "shared/guard.hpp"

namespace billcore::capi {
namespace {

using Type = Argument::Type;

const char* setter_of(Type type) noexcept {
  switch (type) {
    case Type::integer:
      return "billcore_operation_set_int64";
    case Type::flag:
      return "billcore_operation_set_bool";
    case Type::texts:
      return "billcore_operation_add_text";
    case Type::text:
    case Type::id:
      break;
  }
  return "billcore_operation_set_text";
}

// The number of characters to insert, delete or replace.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

void set_field(JsonObject& to, std::string_view name, const std::string& json) {
  // A quick test whether the text looks like a number is enough, because set_json() refuses text that is not JSON.
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool number = !json.empty() && (digit(json.front()) || json.front() == '-') && digit(json.back());
  if (name == "vat_rate" && !number && json != "null") {
    refuse("vat_rate is not a JSON number: pass its digits, such as 25 or 12.50");
  }
  to.set_json(name, json);
}

std::string_view nearest(std::string_view given, std::span<const std::string_view> names) {
  const auto part = given.substr(0, 100);  // a caller's mistake may be a text of any length
  return *std::min_element(names.begin(), names.end(),
                           [&](auto a, auto b) { return distance(part, a) < distance(part, b); });
}

void Arguments::reject(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& argument : known_) {
    names.push_back(argument.name);
    if (argument.name != name) continue;
    refuse(std::string(operation_) + ": " + std::string(name) + " has another type: use " + setter_of(argument.type));
  }
  refuse(std::string(operation_) + " has no argument '" + shown(name) + "': the nearest is '" +
         std::string(nearest(name, names)) + "'");
}

const char* Arguments::keep(std::string_view text) {
  if (text.size() > room_.size() - used_) return longer_.emplace_front(text).data();
  char* kept = room_.data() + used_;
  text.copy(kept, text.size());
  used_ += text.size();
  return kept;
}

void Arguments::set(std::string_view name, std::string_view text) {
  const auto at = find(name, Type::text, Type::id, Type::texts);
  if (known_[at].type == Type::texts) {
    texts_.clear();
    add(name, text);
  } else {
    values_[at] = {keep(text), static_cast<std::int64_t>(text.size())};
  }
}

void Arguments::set(std::string_view name, std::int64_t number) {
  values_[find(name, Type::integer, Type::id)] = {not_text, number};
}

void Arguments::set(std::string_view name, bool flag) { values_[find(name, Type::flag)] = {not_text, flag ? 1 : 0}; }

void Arguments::add(std::string_view name, std::string_view text) {
  static_cast<void>(find(name, Type::texts));
  texts_.emplace_back(text);
}

void Arguments::refuse_without(const Argument& argument) const {
  refuse(std::string(operation_) + " needs " + std::string(argument.name) + ": set it with " +
         setter_of(argument.type));
}

std::optional<std::string> Arguments::optional_text(std::size_t at) const {
  return values_[at].text != nullptr ? std::optional<std::string>(text(at)) : std::nullopt;
}

std::optional<std::int64_t> Arguments::optional_integer(std::size_t at) const noexcept {
  return values_[at].text != nullptr ? std::optional(values_[at].number) : std::nullopt;
}

}  // namespace billcore::capi
