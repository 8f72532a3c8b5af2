// Value: typed and checked access to JSON. The unchecked access to nodes is in node.cpp.
#include <string>
#include <utility>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "billcore/json.hpp"

namespace billcore {

Error detail::value_error(ErrorCode code, std::string path, std::string_view problem) {
  ErrorDetail detail;
  detail.field_path = std::move(path);
  auto message = detail.field_path.empty() ? std::string("the value") : detail.field_path;
  message.append(" ").append(problem);
  return {code, std::move(message), std::move(detail)};
}

Error detail::wrong_kind(const Value& value, const char* expected) {
  return value_error(ErrorCode::decode, value.path(),
                     std::string("is ") + kind_name(value.kind()) + ", not " + expected);
}

Error detail::missing_field(std::string owner, std::string_view field) {
  if (!owner.empty()) owner += '.';
  return value_error(ErrorCode::missing_field, owner.append(field), "is absent");
}

SharedText SharedText::own(std::string text) {
  auto kept = std::make_shared<const std::string>(std::move(text));
  const std::string_view view = *kept;
  return {view, std::move(kept)};
}

Value::Kind Value::kind() const noexcept { return detail::kind(node_); }

bool Value::boolean() const {
  if (kind() != Kind::boolean) throw detail::wrong_kind(*this, "a boolean");
  return detail::boolean(node_);
}

std::int64_t Value::integer() const {
  std::int64_t out = 0;
  if (detail::int64(node_, out)) return out;
  if (kind() != Kind::integer) throw detail::wrong_kind(*this, "an integer");
  throw detail::value_error(ErrorCode::out_of_range, path(), "does not fit in 64 bits; its digits are in raw()");
}

double Value::real() const {
  if (kind() != Kind::real && kind() != Kind::integer) throw detail::wrong_kind(*this, "a number");
  return detail::real(node_);
}

std::string_view Value::text() const {
  if (kind() != Kind::string) throw detail::wrong_kind(*this, "a string");
  return detail::text(node_);
}

std::string_view Value::raw() const { return document_->raw(node_); }
std::string Value::path() const { return document_->path(node_); }
std::size_t Value::size() const noexcept { return detail::size(node_); }

std::optional<Value> Value::find(std::string_view name) const {
  const detail::Node* found = document_->member(node_, name);
  if (found == nullptr) return std::nullopt;
  return Value(document_, found);
}

Value Value::at(std::size_t index) const {
  if (kind() != Kind::array) throw detail::wrong_kind(*this, "an array");
  if (index >= size()) {
    throw Error(ErrorCode::invalid_argument,
                path() + " has " + std::to_string(size()) + " items, there is no item " + std::to_string(index));
  }
  const detail::Node* item = detail::first(node_);
  for (; index > 0; --index) item = detail::next(item);
  return {document_, item};
}

Value::Iterator Value::begin() const noexcept {
  Iterator it;
  it.owner_ = this;
  it.node_ = detail::first(node_);
  it.left_ = size();
  return it;
}

Value::Member Value::Iterator::operator*() const {
  if (owner_->is_object()) return {detail::text(node_), owner_->document_, detail::value_of(node_)};
  return {{}, owner_->document_, node_};
}

Value::Iterator& Value::Iterator::operator++() {
  if (--left_ > 0) node_ = detail::next(owner_->is_object() ? detail::value_of(node_) : node_);
  return *this;
}

bool Value::equals(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::null:
      return true;
    case Kind::boolean:
      return detail::boolean(node_) == detail::boolean(other.node_);
    case Kind::string:
      return detail::text(node_) == detail::text(other.node_);
    case Kind::real:
      return detail::real(node_) == detail::real(other.node_);
    case Kind::integer: {
      std::int64_t a = 0;
      std::int64_t b = 0;
      const bool small = detail::int64(node_, a);
      if (small != detail::int64(other.node_, b)) return false;
      return small ? a == b : raw() == other.raw();
    }
    case Kind::array: {
      auto theirs = other.begin();
      if (size() != other.size()) return false;
      for (const auto item : *this) {
        if (item.value() != (*theirs).value()) return false;
        ++theirs;
      }
      return true;
    }
    case Kind::object:
      break;
  }
  for (const auto member : *this) {
    if (find(member.name)->node() != member.node) continue;  // ignore a member if a later member has the same name
    const auto theirs = other.find(member.name);
    if (!theirs || member.value() != *theirs) return false;
  }
  for (const auto member : other) {
    if (!find(member.name)) return false;
  }
  return true;
}

}  // namespace billcore
