#include "billcore/resource.hpp"

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"

namespace billcore {

const std::shared_ptr<const ResponseInfo>& Resource::response_info() const noexcept {
  return value_.document()->info();
}

Value Resource::required(std::string_view field) const {
  auto found = value_.find(field);
  if (!found) throw detail::missing_field(value_.path(), field);
  if (found->is_null()) throw detail::value_error(ErrorCode::decode, found->path(), "is null, which it must not be");
  return *std::move(found);
}

std::optional<Value> Resource::nullable(std::string_view field) const {
  auto found = value_.find(field);
  if (found && found->is_null()) found.reset();
  return found;
}

// The getters read the JSON node directly. The getters make a Value only to report an error, because a Value holds a
// reference to the document, and adding a reference takes longer than reading a field.
std::int64_t Resource::integer(std::string_view field) const {
  std::int64_t number = 0;
  return value_.document()->int64_member(value_.node(), field, number) ? number : required(field).integer();
}

std::string_view Resource::text(std::string_view field) const {
  std::string_view text;
  return value_.document()->text_member(value_.node(), field, text) ? text : required(field).text();
}

std::optional<std::string_view> Resource::nullable_text(std::string_view field) const {
  std::string_view text;
  if (value_.document()->text_member(value_.node(), field, text)) return text;
  if (const auto other = nullable(field)) return other->text();
  return std::nullopt;
}

std::string_view Resource::number_text(std::string_view field) const { return read_number_text(required(field)); }

Id Resource::id_field(std::string_view field) const {
  std::string_view text;
  return value_.document()->text_member(value_.node(), field, text) ? Id(text) : read_id(required(field));
}

Time Resource::time(std::string_view field) const { return read_time(required(field)); }

std::optional<Time> Resource::nullable_time(std::string_view field) const {
  const auto found = nullable(field);
  if (!found) return std::nullopt;
  return read_time(*found);
}

Value Resource::require_object(Value value) {
  if (!value.is_object()) throw detail::wrong_kind(value, "an object");
  return value;
}

Value Resource::object(std::string_view field) const { return require_object(required(field)); }

std::optional<Value> Resource::nullable_object(std::string_view field) const {
  auto found = nullable(field);
  if (!found) return std::nullopt;
  return require_object(*std::move(found));
}

Value Resource::array(std::string_view field) const {
  auto found = required(field);
  if (!found.is_array()) throw detail::wrong_kind(found, "an array");
  return found;
}

Value Resource::any(std::string_view field) const {
  auto found = find(field);
  if (!found) throw detail::missing_field(value_.path(), field);
  return *std::move(found);
}

std::vector<std::int64_t> Resource::integers(std::string_view field) const {
  std::vector<std::int64_t> out;
  const Value items = array(field);
  out.reserve(items.size());
  for (const auto item : items) out.push_back(item.value().integer());
  return out;
}

Value Resource::detached() const {
  auto document = detail::Document::parse(SharedText::own(std::string(raw())), value_.path(), response_info());
  const auto* root = document->root();
  return {std::move(document), root};
}

Id read_id(const Value& value) {
  if (value.kind() == Value::Kind::string) return {value.text()};
  if (value.kind() == Value::Kind::integer) return Id::from_digits(detail::integer_text(value.node()));
  throw detail::wrong_kind(value, "an id (a string or an integer)");
}

Time read_time(const Value& value) {
  auto time = parse_time(value.text());
  if (!time) throw detail::value_error(ErrorCode::decode, value.path(), "is not an ISO 8601 date-time");
  return *time;
}

std::string_view read_number_text(const Value& value) {
  if (value.kind() != Value::Kind::integer && value.kind() != Value::Kind::real)
    throw detail::wrong_kind(value, "a number");
  return value.raw();
}

}  // namespace billcore
