// The parsed document behind every view, and fast access to its nodes. Not public interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/json.hpp"

namespace billcore {

class ResponseInfo;

namespace detail {

/// Maximum nesting depth of JSON; deeper input gives Error(decode).
inline constexpr int max_nesting = 512;

struct Allocator;
class Block;
class DocumentPool;
class Layout;

class Document {
 public:
  /// Parses strictly by RFC 8259; throws Error(decode) for invalid UTF-8, a BOM, a lone surrogate or text after the
  /// value. `prefix` is prepended to the paths of the document's values, so that a detached copy of `data` still
  /// reports `data.price`.
  static std::shared_ptr<Document> parse(SharedText text, std::string prefix = {},
                                         std::shared_ptr<const ResponseInfo> info = nullptr);
  /// As parse(), with memory from `pool`. parse_copy() also copies the text into that memory.
  static std::shared_ptr<const Document> parse_in(const std::shared_ptr<DocumentPool>& pool, SharedText text);
  static std::shared_ptr<const Document> parse_copy(const std::shared_ptr<DocumentPool>& pool, std::string_view text);
  /// As parse(), with memory from `pool` if the pool has enough free memory.
  static std::shared_ptr<Document> parse_answer(const std::shared_ptr<DocumentPool>& pool, SharedText text,
                                                std::shared_ptr<const ResponseInfo> info);
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] const Node* root() const noexcept { return root_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_.text; }
  [[nodiscard]] const SharedText& shared_text() const noexcept { return text_; }
  [[nodiscard]] const std::shared_ptr<const ResponseInfo>& info() const noexcept { return info_; }
  [[nodiscard]] std::string_view raw(const Node* node) const;
  [[nodiscard]] std::string path(const Node* node) const;
  /// Returns a member of an object of this document, as detail::member() does; faster if mark_alike() has marked the
  /// object.
  [[nodiscard]] const Node* member(const Node* object, std::string_view name) const noexcept;
  /// Write the member to `out` and return true if it is a string (text_member), or a whole number within 64 signed bits
  /// (int64_member).
  [[nodiscard]] bool text_member(const Node* object, std::string_view name, std::string_view& out) const noexcept;
  [[nodiscard]] bool int64_member(const Node* object, std::string_view name, std::int64_t& out) const noexcept;
  /// Marks the objects of an array of this document whose members are alike, so that member() finds these members
  /// faster. Call it once, before another thread uses the document.
  void mark_alike(const Node* array);
  [[nodiscard]] static bool is_alike(const Node* object) noexcept;

 private:
  struct Private {};

 public:
  Document(Private, SharedText text, std::string prefix, std::shared_ptr<const ResponseInfo> info);

 private:
  static std::shared_ptr<Document> make_in(Block& block, SharedText text,
                                           std::shared_ptr<const ResponseInfo> info = nullptr);
  void read(Block& block);
  void read(const Allocator& memory);

  SharedText text_;
  std::string prefix_;
  std::shared_ptr<const ResponseInfo> info_;
  void* doc_ = nullptr;
  const Node* root_ = nullptr;
  std::unique_ptr<const Layout> layout_;  // of the objects that mark_alike() has marked
  // Position of the last raw() lookup: token number and byte offset, 32 bits each. A series of lookups in text order
  // scans the text only once.
  mutable std::atomic<std::uint64_t> last_found_{0};
};

// Node access. Never throws; a node of the wrong kind yields false, null, zero or an empty text.
[[nodiscard]] Value::Kind kind(const Node* node) noexcept;
[[nodiscard]] const Node* member(const Node* object, std::string_view name) noexcept;  // null when absent
[[nodiscard]] std::string_view text(const Node* string) noexcept;                      // NUL-terminated
[[nodiscard]] bool boolean(const Node* node) noexcept;
[[nodiscard]] double real(const Node* number) noexcept;
/// True when the node is a whole number within 64 signed bits.
[[nodiscard]] bool int64(const Node* node, std::int64_t& out) noexcept;
/// The digits of an integer of any size, without looking up its source text.
[[nodiscard]] std::string integer_text(const Node* integer);
[[nodiscard]] std::size_t size(const Node* container) noexcept;
/// The first item, or the key of the first member; null when empty.
[[nodiscard]] const Node* first(const Node* container) noexcept;
/// The node after an item or after a member's value.
[[nodiscard]] const Node* next(const Node* item) noexcept;
[[nodiscard]] const Node* value_of(const Node* key) noexcept;
[[nodiscard]] const Node* key_of(const Node* value) noexcept;
/// Whether the object has exactly these members, in this order; if so, writes their values to `values`, which has the
/// size of `names`.
[[nodiscard]] bool has_members(const Node* object, const std::vector<std::string>& names,
                               std::vector<const Node*>& values) noexcept;
[[nodiscard]] const char* kind_name(Value::Kind kind) noexcept;

/// Makes the error "`path` `problem`", such as "data.price is null", with `path` as its field_path.
[[nodiscard]] Error value_error(ErrorCode code, std::string path, std::string_view problem);
/// Makes an Error(decode) such as "data.price is null, not an integer". `expected` is a phrase such as "an integer".
[[nodiscard]] Error wrong_kind(const Value& value, const char* expected);
/// Makes an Error(missing_field) for a member that the object at `owner` does not have.
[[nodiscard]] Error missing_field(std::string owner, std::string_view field);

/// The same JSON without white space; numbers keep their digits. nullopt when `text` is not a single JSON value;
/// `problem` then says why in a few words.
[[nodiscard]] std::optional<std::string> compact_json(std::string_view text, std::string& problem);

}  // namespace detail
}  // namespace billcore
