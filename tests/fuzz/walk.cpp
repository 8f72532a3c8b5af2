// Reads every value of a JSON document with every accessor.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "billcore/model.hpp"
#include "support.hpp"

namespace billcore::fuzz {
namespace {

using Kind = Value::Kind;

// Calls a getter. The getter must succeed for a value of the right kind (unless an integer is out of range), and must
// throw an Error for a value of another kind.
template <typename Get>
void require_only_for(bool right_kind, Get get) {
  bool given = false;
  try {
    get();
    given = true;
  } catch (const Error& error) {
    require_decode(error);
    require(!right_kind || error.code() == ErrorCode::out_of_range, "a value of the right kind can be read");
  }
  require(right_kind || !given, "a value of the wrong kind is an error");
}

// Returns a member's name as the paths in errors show it: control characters are escaped as in JSON.
std::string printable(std::string_view name) {
  std::string out;
  for (const char c : name) {
    std::array<char, 8> escaped{c, '\0'};
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
    }
    out += escaped.data();
  }
  return out;
}

std::string without_minus_zero(std::string_view digits) { return std::string(digits == "-0" ? "0" : digits); }

void read_number(const Value& value) {
  const std::string raw(value.raw());
  require(value.real() == std::strtod(raw.c_str(), nullptr), "real() is the nearest double");
  require(read_number_text(value) == raw, "a number keeps its digits");
  if (value.kind() != Kind::integer) return;
  require(raw.find_first_of(".eE") == std::string::npos, "an integer has no fraction");
  require(read_id(value).is_integer(), "an integer id is marked as an integer");
  require(read_id(value).text() == raw, "an id round-trips as received");
  try {
    require(std::to_string(value.integer()) == without_minus_zero(raw), "integer() is what was sent");
  } catch (const Error& error) {
    require_readable(error);
    require(error.code() == ErrorCode::out_of_range && raw.size() >= 19, "64 bits hold a small integer");
  }
}

void read_as_every_kind(const Value& value) {
  const auto kind = value.kind();
  require_only_for(kind == Kind::boolean, [&] { return value.boolean(); });
  require_only_for(kind == Kind::integer, [&] { return value.integer(); });
  require_only_for(kind == Kind::integer || kind == Kind::real, [&] { return value.real(); });
  require_only_for(kind == Kind::string, [&] { return value.text(); });
  require_only_for(kind == Kind::integer || kind == Kind::string, [&] { return read_id(value); });
}

void read_scalar(const Value& value, bool thorough) {
  const auto kind = value.kind();
  const auto raw = value.raw();
  if (thorough) read_as_every_kind(value);
  if (kind == Kind::null) require(raw == "null", "raw() of null");
  if (kind == Kind::boolean) require(raw == (value.boolean() ? "true" : "false"), "raw() of a boolean");
  if (kind == Kind::integer || kind == Kind::real) read_number(value);
  if (kind == Kind::string) {
    require(raw.size() >= 2 && raw.front() == '"' && raw.back() == '"', "raw() of a string has its quotes");
    require(is_utf8(value.text()), "text() is UTF-8");
    require(value.text().data()[value.text().size()] == '\0', "text() ends with NUL");
    require(value.text().size() <= raw.size() - 2, "unescaping makes no text longer");
    const auto time = parse_time(value.text());
    require(!time || time->text == value.text(), "a time keeps its text");
  }
}

void read_member(const Value& object, const Value::Member& member) {
  require(is_utf8(member.name), "a name is UTF-8");
  const auto found = object.find(member.name);
  require(found.has_value(), "a member is found by its name");
  bool behind = false;
  const detail::Node* last = nullptr;
  for (const auto other : object) {
    if (other.node == member.node) behind = true;
    if (behind && other.name == member.name) last = other.node;
  }
  require(found->node() == last, "the last of several equal names is used");
}

void read_beyond_end(const Value& array) {
  try {
    static_cast<void>(array.at(array.size()));
    require(false, "there is no item after the last");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument, "an index beyond the end is an invalid argument");
    require_readable(error);
  }
}

// Reads all values of a document. Creating errors and copies is slow, so they are created only for every eighth
// value; the size of the text selects the first of these values.
class Walk {
 public:
  explicit Walk(std::size_t first_turn) : turn_(first_turn) {}
  void read(const Value& value, const std::string& path);

 private:
  std::size_t turn_;
};

void Walk::read(const Value& value, const std::string& path) {
  const auto raw = value.raw();
  const bool thorough = turn_++ % 8 == 0;
  require(value.path() == path, "path() gives the position of a value");
  require(value == value, "a value equals itself");
  read_scalar(value, thorough);

  const bool object = value.is_object();
  std::size_t count = 0;
  const char* from = raw.data();
  for (const auto member : value) {
    const auto child = member.value();
    const auto part = child.raw();
    require(part.data() > from && part.data() + part.size() < raw.data() + raw.size(), "values are in order");
    from = part.data() + part.size() - 1;
    std::string below = path;
    if (object) {
      if (!below.empty()) below += '.';
      below += printable(member.name);
      if (count < 50) read_member(value, member);
    } else {
      below += '[' + std::to_string(count) + ']';
      if (count < 50) require(value.at(count).node() == child.node(), "at() finds the items of an iteration");
    }
    read(child, below);
    ++count;
  }
  require(value.size() == count, "size() counts all");
  if (!object && !value.is_array()) {
    require(count == 0 && !value.find("x"), "a scalar has no items");
  } else if (value.is_array()) {
    require(raw.front() == '[' && raw.back() == ']', "raw() of an array");
    if (thorough) read_beyond_end(value);
  } else {
    require(raw.front() == '{' && raw.back() == '}', "raw() of an object");
  }
  if (thorough && raw.size() < 500) {  // copying large values at every level would take quadratic time
    const auto copy = ProductGroup(value).copy();
    require(copy.value() == value && copy.raw() == raw && copy.value().path() == path, "a copy is the same");
    require(parse(raw) == value, "raw() parses to the same value");
  }
}

}  // namespace

void walk(const Value& value, const std::string& path) { Walk(value.raw().size()).read(value, path); }

}  // namespace billcore::fuzz
