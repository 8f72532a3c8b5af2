// Document and JsonObject, on top of yyjson.
#include "billcore/json.hpp"

#include <yyjson.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "base/encoding.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/detail/libraries.hpp"
#include "billcore/error.hpp"
#include "json/allocator.hpp"
#include "json/json_scan.hpp"
#include "json/layout.hpp"
#include "json/node.hpp"

namespace billcore {
namespace detail {
namespace {

using Chars = std::unique_ptr<char, void (*)(void*)>;

std::size_t index_in(const Node* root, const Node* node) noexcept {
  return static_cast<std::size_t>(val(node) - val(root));
}

// Whether a document is nested too deeply. Skips a container with so few values that it cannot be nested too deeply;
// nearly all containers are that small.
bool too_deep(yyjson_doc* doc) noexcept {
  const yyjson_val* value = yyjson_doc_get_root(doc);
  const yyjson_val* const end = value + yyjson_doc_get_val_count(doc);
  std::array<const yyjson_val*, max_nesting> ends;  // end of each open container
  std::size_t open = 0;
  while (value < end) {
    while (open > 0 && value >= ends[open - 1]) --open;
    const yyjson_val* const behind = next_of(value);
    const bool is_container = unsafe_yyjson_is_ctn(const_cast<yyjson_val*>(value));
    if (!is_container || open + static_cast<std::size_t>(behind - value) <= max_nesting) {
      value = behind;
    } else if (open == ends.size()) {
      return true;
    } else {
      ends[open++] = behind;
      ++value;
    }
  }
  return false;
}

constexpr yyjson_read_flag read_flags = YYJSON_READ_BIGNUM_AS_RAW;

// Upper bound for the size of a Document with its reference count.
constexpr std::size_t document_size = sizeof(Document) + 128;

// Size of a block that is certainly enough for a document: the maximum that yyjson states for a text of this size.
std::size_t pooled_size(std::size_t text_size) noexcept {
  return yyjson_read_max_memory_usage(text_size, read_flags) + document_size;
}

// Size of a block that is enough for a usual document: yyjson copies the text, reserves space for one value per 6
// bytes, and can extend that space once by half.
std::size_t usual_size(std::size_t text_size) noexcept {
  return text_size * 5 + document_size + (std::size_t{1} << 10U);
}

struct Parsed {
  yyjson_doc* doc = nullptr;
  std::string problem;  // error text; empty when doc is set
};

Parsed parse_text(std::string_view text, yyjson_read_flag flags, const Allocator& from = heap_allocator()) {
  // yyjson copies the allocator into the document, so a local variable is enough.
  const yyjson_alc alc{from.allocate, from.reallocate, from.release, from.context};
  yyjson_read_err err{};
  // yyjson modifies the text only with the flag YYJSON_READ_INSITU; the parameter is non-const only for that flag.
  yyjson_doc* doc = yyjson_read_opts(const_cast<char*>(text.data()), text.size(), flags, &alc, &err);
  if (doc == nullptr) {
    if (err.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) throw std::bad_alloc();
    if (text.empty()) return {nullptr, "it is empty"};
    return {nullptr, std::string(err.msg) + " at byte " + std::to_string(err.pos)};
  }
  if (too_deep(doc)) {
    yyjson_doc_free(doc);
    return {nullptr, "it is nested deeper than " + std::to_string(max_nesting) + " levels"};
  }
  return {doc, {}};
}

// Paths appear in one-line texts, so control characters in a name are escaped as in JSON.
void append_name(std::string_view name, std::string& path) {
  for (const char c : name) {
    if (is_control(c)) {
      path += "\\u00";
      encode_hex_text({&c, 1}, hex_digits, path);
    } else {
      path += c;
    }
  }
}

// Appends the path from `at` to its descendant `target`.
void append_path(const Node* at, const Node* target, std::string& path) {
  while (at != target && size(at) > 0) {
    const bool object = kind(at) == Value::Kind::object;
    const Node* item = first(at);
    std::size_t index = 0;
    for (; index + 1 < size(at); ++index) {
      const Node* behind = next(object ? value_of(item) : item);
      if (target < behind) break;
      item = behind;
    }
    if (object) {
      if (!path.empty()) path += '.';
      append_name(text(item), path);
    } else {
      path += '[' + std::to_string(index) + ']';
    }
    at = object ? value_of(item) : item;
  }
}

}  // namespace

std::optional<std::string> compact_json(std::string_view text, std::string& problem) {
  auto parsed = parse_text(text, YYJSON_READ_NUMBER_AS_RAW);
  if (parsed.doc == nullptr) {
    problem = std::move(parsed.problem);
    return std::nullopt;
  }
  std::size_t length = 0;
  const Chars written(yyjson_write(parsed.doc, YYJSON_WRITE_NOFLAG, &length), std::free);
  yyjson_doc_free(parsed.doc);
  if (written == nullptr) throw std::bad_alloc();
  return std::string(written.get(), length);
}

Document::Document(Private, SharedText text, std::string prefix, std::shared_ptr<const ResponseInfo> info)
    : text_(std::move(text)), prefix_(std::move(prefix)), info_(std::move(info)) {}

Document::~Document() { yyjson_doc_free(static_cast<yyjson_doc*>(doc_)); }

std::shared_ptr<Document> Document::parse(SharedText text, std::string prefix,
                                          std::shared_ptr<const ResponseInfo> info) {
  auto document = std::make_shared<Document>(Private{}, std::move(text), std::move(prefix), std::move(info));
  document->read(heap_allocator());
  return document;
}

std::shared_ptr<Document> Document::make_in(Block& block, SharedText text, std::shared_ptr<const ResponseInfo> info) {
  return std::allocate_shared<Document>(BlockAllocator<Document>(&block), Private{}, std::move(text), std::string(),
                                        std::move(info));
}

std::shared_ptr<Document> Document::parse_answer(const std::shared_ptr<DocumentPool>& pool, SharedText text,
                                                 std::shared_ptr<const ResponseInfo> info) {
  const auto size = usual_size(text.text.size());
  Block* const block = size > DocumentPool::largest_kept ? nullptr : DocumentPool::take(pool, size);
  if (block == nullptr) return parse(std::move(text), {}, std::move(info));
  auto document = make_in(*block, std::move(text), std::move(info));
  document->read(*block);
  return document;
}

std::shared_ptr<const Document> Document::parse_in(const std::shared_ptr<DocumentPool>& pool, SharedText text) {
  const std::size_t size = pooled_size(text.text.size());
  if (size > DocumentPool::largest_kept) return parse(std::move(text));
  Block& block = *DocumentPool::take(pool, size);
  auto document = make_in(block, std::move(text));
  document->read(block);
  return document;
}

std::shared_ptr<const Document> Document::parse_copy(const std::shared_ptr<DocumentPool>& pool, std::string_view text) {
  const std::size_t size = pooled_size(text.size()) + text.size() + alignof(std::max_align_t);
  if (size > DocumentPool::largest_kept) return parse(SharedText::own(std::string(text)));
  Block& block = *DocumentPool::take(pool, size);
  auto document = make_in(block, {});
  auto* copy = static_cast<char*>(block.allocate(text.size() + 1));
  std::copy(text.begin(), text.end(), copy);
  copy[text.size()] = '\0';
  document->text_.text = {copy, text.size()};
  document->read(block);
  return document;
}

void Document::read(Block& block) {
  try {
    read(block.allocator());
  } catch (const std::bad_alloc&) {
    // The maximum that yyjson states is correct only for valid JSON: a body of "[[[[" needs more memory before
    // parsing fails.
    read(heap_allocator());
  }
}

void Document::read(const Allocator& memory) {
  auto parsed = parse_text(text(), read_flags, memory);
  if (parsed.doc == nullptr) throw Error(ErrorCode::decode, "the body is not valid JSON: " + parsed.problem);
  doc_ = parsed.doc;
  root_ = node(yyjson_doc_get_root(parsed.doc));
}

void Document::mark_alike(const Node* array) { layout_ = Layout::mark(val(array)); }

std::string_view Document::raw(const Node* node) const {
  const std::size_t index = index_in(root_, node);
  const std::uint64_t last = last_found_.load(std::memory_order_relaxed);
  TokenPlace from{last >> 32U, last & 0xFFFFFFFFU};
  if (from.index > index) from = {};
  const auto found = nth_token(text(), index, from);
  const auto offset = static_cast<std::uint64_t>(found.data() - text().data());
  if ((index | offset) >> 32U == 0) {
    last_found_.store(static_cast<std::uint64_t>(index) << 32U | offset, std::memory_order_relaxed);
  }
  return found;
}

std::string Document::path(const Node* node) const {
  std::string path = prefix_;
  append_path(root_, node, path);
  return path;
}

}  // namespace detail

// ---- JsonObject

struct JsonObject::Impl {
  yyjson_mut_doc* doc;

  Impl() : doc(yyjson_mut_doc_new(nullptr)) {
    if (doc == nullptr) throw std::bad_alloc();
    yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
  }
  Impl(const Impl& other) : doc(yyjson_mut_doc_mut_copy(other.doc, nullptr)) {
    if (doc == nullptr) throw std::bad_alloc();
  }
  Impl& operator=(const Impl&) = delete;
  ~Impl() { yyjson_mut_doc_free(doc); }

  void put(std::string_view name, yyjson_mut_val* value) {
    if (!detail::valid_utf8(name)) throw Error(ErrorCode::invalid_argument, "a JSON member's name is not valid UTF-8");
    yyjson_mut_val* key = yyjson_mut_strncpy(doc, name.empty() ? "" : name.data(), name.size());
    if (key == nullptr || value == nullptr) throw std::bad_alloc();
    yyjson_mut_val* root = yyjson_mut_doc_get_root(doc);
    if (yyjson_mut_obj_getn(root, name.data(), name.size()) != nullptr) {
      yyjson_mut_obj_replace(root, key, value);
    } else {
      yyjson_mut_obj_add(root, key, value);
    }
  }
};

JsonObject::JsonObject() : impl_(std::make_unique<Impl>()) {}
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(JsonObject&&) noexcept = default;
JsonObject::JsonObject(const JsonObject& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
JsonObject& JsonObject::operator=(const JsonObject& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
JsonObject::~JsonObject() = default;

JsonObject& JsonObject::set(std::string_view name, std::string_view text) {
  if (!detail::valid_utf8(text)) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + " is not valid UTF-8: pass UTF-8 text");
  }
  // yyjson treats a null pointer as an error, and the pointer of an empty string_view may be null.
  impl_->put(name, yyjson_mut_strncpy(impl_->doc, text.empty() ? "" : text.data(), text.size()));
  return *this;
}

JsonObject& JsonObject::set(std::string_view name, std::int64_t number) {
  impl_->put(name, yyjson_mut_sint(impl_->doc, number));
  return *this;
}

JsonObject& JsonObject::set(std::string_view name, bool flag) {
  impl_->put(name, yyjson_mut_bool(impl_->doc, flag));
  return *this;
}

JsonObject& JsonObject::set_null(std::string_view name) {
  impl_->put(name, yyjson_mut_null(impl_->doc));
  return *this;
}

JsonObject& JsonObject::set_json(std::string_view name, std::string_view json) {
  auto parsed = detail::parse_text(json, YYJSON_READ_NUMBER_AS_RAW);
  if (parsed.doc == nullptr) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + " is not valid JSON: " + parsed.problem);
  }
  yyjson_mut_val* copy = yyjson_val_mut_copy(impl_->doc, yyjson_doc_get_root(parsed.doc));
  yyjson_doc_free(parsed.doc);
  impl_->put(name, copy);
  return *this;
}

bool JsonObject::empty() const noexcept { return yyjson_mut_obj_size(yyjson_mut_doc_get_root(impl_->doc)) == 0; }

detail::LinkedLibrary detail::linked_json() { return {"yyjson", YYJSON_VERSION_STRING}; }

std::string JsonObject::dump() const {
  std::size_t length = 0;
  const detail::Chars text(yyjson_mut_write(impl_->doc, YYJSON_WRITE_NOFLAG, &length), std::free);
  if (text == nullptr) throw std::bad_alloc();
  return {text.get(), length};
}

}  // namespace billcore
