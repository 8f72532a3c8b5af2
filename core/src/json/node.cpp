#include "json/node.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace billcore::detail {
namespace {

bool looks_real(std::string_view digits) noexcept { return digits.find_first_of(".eE") != std::string_view::npos; }

std::string_view raw_number(const Node* number) noexcept {
  return {unsafe_yyjson_get_raw(val(number)), unsafe_yyjson_get_len(val(number))};
}

}  // namespace

Value::Kind kind(const Node* node) noexcept {
  switch (yyjson_get_tag(val(node)) & (YYJSON_TYPE_MASK | YYJSON_SUBTYPE_MASK)) {
    case YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_TRUE:
    case YYJSON_TYPE_BOOL | YYJSON_SUBTYPE_FALSE:
      return Value::Kind::boolean;
    case YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT:
    case YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT:
      return Value::Kind::integer;
    case YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL:
      return Value::Kind::real;
    case YYJSON_TYPE_ARR:
      return Value::Kind::array;
    case YYJSON_TYPE_OBJ:
      return Value::Kind::object;
    case YYJSON_TYPE_STR | YYJSON_SUBTYPE_NONE:
    case YYJSON_TYPE_STR | YYJSON_SUBTYPE_NOESC:
      return Value::Kind::string;
    default:
      break;
  }
  if (!yyjson_is_raw(val(node))) return Value::Kind::null;
  return looks_real(raw_number(node)) ? Value::Kind::real : Value::Kind::integer;
}

std::string_view text(const Node* string) noexcept {
  if (!yyjson_is_str(val(string))) return "";
  return {unsafe_yyjson_get_str(val(string)), unsafe_yyjson_get_len(val(string))};
}

bool boolean(const Node* node) noexcept { return yyjson_is_true(val(node)); }

double real(const Node* number) noexcept {
  if (!yyjson_is_raw(val(number))) return yyjson_get_num(val(number));
  const auto digits = raw_number(number);
  double out = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (parsed.ec == std::errc()) return out;
  return digits.front() == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

bool int64(const Node* node, std::int64_t& out) noexcept {
  auto* v = val(node);
  if (yyjson_is_sint(v)) {
    out = unsafe_yyjson_get_sint(v);
    return true;
  }
  if (!yyjson_is_uint(v) || unsafe_yyjson_get_uint(v) > std::numeric_limits<std::int64_t>::max()) return false;
  out = static_cast<std::int64_t>(unsafe_yyjson_get_uint(v));
  return true;
}

std::string integer_text(const Node* integer) {
  auto* v = val(integer);
  if (yyjson_is_raw(v)) return std::string(raw_number(integer));
  if (yyjson_is_uint(v)) return std::to_string(unsafe_yyjson_get_uint(v));
  const auto number = unsafe_yyjson_get_sint(v);
  return number == 0 ? "-0" : std::to_string(number);  // yyjson stores a negative zero as a signed integer
}

std::size_t size(const Node* container) noexcept {
  return yyjson_is_ctn(val(container)) ? unsafe_yyjson_get_len(val(container)) : 0;
}

const Node* first(const Node* container) noexcept {
  return size(container) > 0 ? node(unsafe_yyjson_get_first(val(container))) : nullptr;
}

const Node* next(const Node* item) noexcept { return node(unsafe_yyjson_get_next(val(item))); }

const Node* value_of(const Node* key) noexcept { return node(val(key) + 1); }

const Node* key_of(const Node* value) noexcept { return node(val(value) - 1); }

const char* kind_name(Value::Kind kind) noexcept {
  static constexpr std::array<const char*, 7> names{"null",     "a boolean", "an integer", "a number",
                                                    "a string", "an array",  "an object"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace billcore::detail
