// The parsed document behind every view, and cheap access to its nodes. Not public interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "billcore/error.hpp"
#include "billcore/json.hpp"

namespace billcore {

class ResponseInfo;

namespace detail {

/// How deep JSON may be nested; deeper is Error(decode).
inline constexpr int max_nesting = 512;

struct Allocator;
class Block;
class DocumentPool;

class Document {
 public:
  /// Parses strictly (RFC 8259, valid UTF-8, no BOM, no lone surrogates, nothing behind the value); throws
  /// Error(decode). `prefix` is put before the paths of its values (a detached copy of `data` keeps saying
  /// `data.price`).
  static std::shared_ptr<const Document> parse(SharedText text, std::string prefix = {},
                                               std::shared_ptr<const ResponseInfo> info = nullptr);
  /// The same in memory of `pool`; the second one copies the text there, too.
  static std::shared_ptr<const Document> parse_in(const std::shared_ptr<DocumentPool>& pool, SharedText text);
  static std::shared_ptr<const Document> parse_copy(const std::shared_ptr<DocumentPool>& pool, std::string_view text);
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] const Node* root() const noexcept { return root_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_.text; }
  [[nodiscard]] const SharedText& shared_text() const noexcept { return text_; }
  [[nodiscard]] const std::shared_ptr<const ResponseInfo>& info() const noexcept { return info_; }
  [[nodiscard]] std::string_view raw(const Node* node) const;
  [[nodiscard]] std::string path(const Node* node) const;

 private:
  struct Private {};

 public:
  Document(Private, SharedText text, std::string prefix, std::shared_ptr<const ResponseInfo> info);

 private:
  static std::shared_ptr<Document> make_in(Block& block, SharedText text);
  void read(Block& block);
  void read(const Allocator& memory);

  SharedText text_;
  std::string prefix_;
  std::shared_ptr<const ResponseInfo> info_;
  void* doc_ = nullptr;
  const Node* root_ = nullptr;
  // Where raw() looked last: token number and byte offset, 32 bits each, so that reading on in order scans the text once.
  mutable std::atomic<std::uint64_t> last_found_{0};
};

// Node access. Nothing here throws; a wrong kind gives "no".
[[nodiscard]] Value::Kind kind(const Node* node) noexcept;
[[nodiscard]] const Node* member(const Node* object, std::string_view name) noexcept;  // null when absent
[[nodiscard]] std::string_view text(const Node* string) noexcept;                      // NUL-terminated
[[nodiscard]] bool boolean(const Node* node) noexcept;
[[nodiscard]] double real(const Node* number) noexcept;
/// True when the node is a whole number within 64 signed bits.
[[nodiscard]] bool int64(const Node* node, std::int64_t& out) noexcept;
/// The digits of a whole number of any size, without looking for its source text.
[[nodiscard]] std::string integer_text(const Node* integer);
[[nodiscard]] std::size_t size(const Node* container) noexcept;
/// The first item, or the key of the first member; null when empty.
[[nodiscard]] const Node* first(const Node* container) noexcept;
/// What stands behind an item or a member's value.
[[nodiscard]] const Node* next(const Node* item) noexcept;
[[nodiscard]] const Node* value_of(const Node* key) noexcept;
[[nodiscard]] const char* kind_name(Value::Kind kind) noexcept;

/// An error about the value at `path`: "data.price is null", with the path as its field_path.
[[nodiscard]] Error value_error(ErrorCode code, std::string path, std::string_view problem);
/// Error(decode): "data.price is null, not an integer". expected: such as "an integer".
[[nodiscard]] Error wrong_kind(const Value& value, const char* expected);
/// Error(missing_field) for a member that the object at `owner` does not have.
[[nodiscard]] Error missing_field(std::string owner, std::string_view field);

/// The same JSON without spaces, numbers with their digits; nothing, and why in a few words, when it is not one JSON
/// value.
[[nodiscard]] std::optional<std::string> compact_json(std::string_view text, std::string& problem);

}  // namespace detail
}  // namespace billcore
