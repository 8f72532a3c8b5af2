// Read-only views of parsed JSON.
//
// A Value is a view into one parsed, immutable, shared document: copying it copies no JSON, and it keeps its document
// alive. Text returned as std::string_view is valid as long as any Value of the same document exists, and it is
// NUL-terminated unless its comment says otherwise. A getter for a type that the value does not have throws
// Error(decode) with the path of the value, such as `data.price`. Threads: documents are immutable; Values may be read
// and copied from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace billcore {

namespace detail {
struct Node;  // one parsed value; see json/node.hpp
class Document;
}  // namespace detail

/// A text and its owner: `text` is valid while `keep` is held.
struct SharedText {
  std::string_view text;
  std::shared_ptr<const void> keep;

  /// Takes ownership of a string.
  static SharedText own(std::string text);
};

class Value {
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };

  /// Makes a view into `document`. Only the library itself calls this constructor.
  Value(std::shared_ptr<const detail::Document> document, const detail::Node* node) noexcept
      : document_(std::move(document)), node_(node) {}

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return kind() == Kind::null; }
  [[nodiscard]] bool is_object() const noexcept { return kind() == Kind::object; }
  [[nodiscard]] bool is_array() const noexcept { return kind() == Kind::array; }

  [[nodiscard]] bool boolean() const;
  /// The value of an integer. Throws Error(out_of_range) when the integer does not fit in 64 signed bits; read its
  /// digits from raw().
  [[nodiscard]] std::int64_t integer() const;
  /// The value of any number, rounded to a double.
  [[nodiscard]] double real() const;
  /// The text of a string, unescaped, as UTF-8.
  [[nodiscard]] std::string_view text() const;

  /// The JSON text of this value exactly as received (not NUL-terminated).
  [[nodiscard]] std::string_view raw() const;
  /// Path of the value in its document, such as `data.images[0].portrait`; empty for the root.
  [[nodiscard]] std::string path() const;

  /// Number of items or members; 0 for other kinds. Duplicate member names count separately.
  [[nodiscard]] std::size_t size() const noexcept;
  /// A member of an object by name (the last one if the name is repeated), or nullopt.
  [[nodiscard]] std::optional<Value> find(std::string_view name) const;
  /// Item `index` of an array. Throws Error(invalid_argument) if the array has no item `index`.
  [[nodiscard]] Value at(std::size_t index) const;

  /// An item or member in an iteration; `name` is empty for array items.
  struct Member {
    std::string_view name;
    std::shared_ptr<const detail::Document> document;
    const detail::Node* node;
    [[nodiscard]] Value value() const { return {document, node}; }
  };
  /// Iterates over the items of an array or the members of an object, in the order received.
  class Iterator {
   public:
    using value_type = Member;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using reference = Member;
    using pointer = void;

    Iterator() = default;
    [[nodiscard]] Member operator*() const;
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.left_ == b.left_; }

   private:
    friend class Value;
    const Value* owner_ = nullptr;
    const detail::Node* node_ = nullptr;  // item, or key of a member
    std::size_t left_ = 0;
  };
  /// Iterators borrow this Value: it must outlive them.
  [[nodiscard]] Iterator begin() const noexcept;
  [[nodiscard]] Iterator end() const noexcept { return {}; }

  /// Equal JSON: same kinds, same numbers (1 and 1.0 differ), members in any order.
  friend bool operator==(const Value& a, const Value& b) { return a.equals(b); }

  [[nodiscard]] const detail::Node* node() const noexcept { return node_; }
  [[nodiscard]] const std::shared_ptr<const detail::Document>& document() const noexcept { return document_; }

 private:
  [[nodiscard]] bool equals(const Value& other) const;

  std::shared_ptr<const detail::Document> document_;
  const detail::Node* node_;
};

/// Builds the JSON object of a request body: compact, in the order of the set() calls. Setting a name again replaces
/// its value. Names and texts must be valid UTF-8, otherwise set() throws Error(invalid_argument). Threads: one at a
/// time.
class JsonObject {
 public:
  JsonObject();
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(JsonObject&&) noexcept;
  JsonObject(const JsonObject& other);
  JsonObject& operator=(const JsonObject& other);
  ~JsonObject();

  JsonObject& set(std::string_view name, std::string_view text);
  JsonObject& set(std::string_view name, const char* text) { return set(name, std::string_view(text)); }
  JsonObject& set(std::string_view name, std::int64_t number);
  JsonObject& set(std::string_view name, int number) { return set(name, static_cast<std::int64_t>(number)); }
  JsonObject& set(std::string_view name, double number) = delete;  // a double may lose digits: use set_json()
  JsonObject& set(std::string_view name, bool flag);
  JsonObject& set_null(std::string_view name);
  /// Sets a member to any JSON. The text is validated; numbers keep their digits.
  JsonObject& set_json(std::string_view name, std::string_view json);

  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::string dump() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace billcore
