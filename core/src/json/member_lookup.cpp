// Finds a member of an object; if several members have the same name, finds the last one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/layout.hpp"
#include "json/node.hpp"

namespace billcore::detail {
namespace {

bool read_text(const Node* node, std::string_view& out) noexcept {
  auto* const string = val(node);
  if (!yyjson_is_str(string)) return false;
  out = {unsafe_yyjson_get_str(string), unsafe_yyjson_get_len(string)};
  return true;
}

// The compiler must not inline the following functions: their callers need them seldom, and without them need no stack
// frame.

[[gnu::noinline]] const Node* find(const Layout* layout, const Node* object, std::string_view name) noexcept {
  return Document::is_alike(object) ? node(layout->find(val(object), name)) : member(object, name);
}

[[gnu::noinline]] bool find_text(const Layout* layout, const Node* object, std::string_view name,
                                 std::string_view& out) noexcept {
  return read_text(find(layout, object, name), out);
}

[[gnu::noinline]] bool find_int64(const Layout* layout, const Node* object, std::string_view name,
                                  std::int64_t& out) noexcept {
  const Node* const found = find(layout, object, name);
  return found != nullptr && int64(found, out);
}

// Returns null also for a member that only find() finds.
const Node* find_plain(const Layout* layout, const Node* object, std::string_view name) noexcept {
  return Document::is_alike(object) ? node(layout->find_plain(val(object), name)) : nullptr;
}

}  // namespace

const Node* member(const Node* object, std::string_view name) noexcept {
  const auto wanted = static_cast<std::uint32_t>(name.size());
  if (!yyjson_is_obj(val(object))) return nullptr;
  const yyjson_val* found = nullptr;
  const yyjson_val* const end = unsafe_yyjson_get_next(val(object));
  for (const yyjson_val* key = val(object) + 1; key < end; key = next_of(key + 1)) {
    if (low_length(key) == wanted && is_named(key, name)) found = key + 1;
  }
  return node(found);
}

bool Document::is_alike(const Node* object) noexcept { return object != nullptr && Layout::is_marked(val(object)); }

const Node* Document::member(const Node* object, std::string_view name) const noexcept {
  const Node* const found = find_plain(layout_.get(), object, name);
  return found != nullptr ? found : find(layout_.get(), object, name);
}

bool Document::text_member(const Node* object, std::string_view name, std::string_view& out) const noexcept {
  const Node* const found = find_plain(layout_.get(), object, name);
  return found != nullptr ? read_text(found, out) : find_text(layout_.get(), object, name, out);
}

bool Document::int64_member(const Node* object, std::string_view name, std::int64_t& out) const noexcept {
  const Node* const found = find_plain(layout_.get(), object, name);
  return found != nullptr ? int64(found, out) : find_int64(layout_.get(), object, name, out);
}

bool has_members(const Node* object, const std::vector<std::string>& names, std::vector<const Node*>& values) noexcept {
  if (size(object) != names.size()) return false;
  const yyjson_val* key = val(object) + 1;
  auto* value = values.data();
  for (const auto& name : names) {
    if (!is_named(key, name)) return false;
    *value++ = node(key + 1);
    key = next_of(key + 1);
  }
  return true;
}

}  // namespace billcore::detail
