// Resource: the base of every typed view.
//
// A resource is a view of one parsed, immutable, shared document: nothing is copied, and fields are looked up when they
// are read. Making a resource never fails because of an absent field, an unknown field or an unknown enum value.
// Reading a required field throws Error(missing_field) if the field is absent, and Error(decode) if it is null or has a
// wrong type. The errors contain the field's path, such as `data.price`, in their text and as detail().field_path. An
// item of a list keeps its whole page alive; copy() makes a detached copy. Threads: immutable; may be read and copied
// from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/json.hpp"
#include "billcore/values.hpp"

namespace billcore {

/// Metadata of the answer that contained a resource. Threads: any.
class ResponseInfo {
 public:
  ResponseInfo(int status, int attempts, bool sent_late = false) noexcept
      : status_(status), attempts_(attempts), sent_late_(sent_late) {}
  virtual ~ResponseInfo() = default;
  ResponseInfo(const ResponseInfo&) = delete;
  ResponseInfo& operator=(const ResponseInfo&) = delete;

  [[nodiscard]] int status() const noexcept { return status_; }
  /// How many attempts the request took.
  [[nodiscard]] int attempts() const noexcept { return attempts_; }
  /// Whether the request was a write that may have left after its deadline, because the process or the machine was
  /// stopped while it was sent.
  [[nodiscard]] bool sent_late() const noexcept { return sent_late_; }
  /// Header fields in the order received, names in lower case; secrets are redacted.
  [[nodiscard]] virtual const std::vector<std::pair<std::string, std::string>>& headers() const = 0;
  /// Value of the request id header; empty if absent.
  [[nodiscard]] virtual const std::string& request_id() const = 0;

 private:
  int status_;
  int attempts_;
  bool sent_late_;
};

class Resource {
 public:
  explicit Resource(Value value) : value_(std::move(value)) {}

  /// The JSON text exactly as received.
  [[nodiscard]] std::string_view raw() const { return value_.raw(); }
  /// The resource as a JSON value.
  [[nodiscard]] const Value& value() const noexcept { return value_; }
  /// Any field by its name, including fields unknown to this library; nullopt when absent (null is a Value).
  [[nodiscard]] std::optional<Value> find(std::string_view field) const { return value_.find(field); }
  [[nodiscard]] bool contains(std::string_view field) const { return find(field).has_value(); }
  /// The answer that contained the resource; null for parts of an event.
  [[nodiscard]] const std::shared_ptr<const ResponseInfo>& response_info() const noexcept;

  /// Compares the JSON.
  friend bool operator==(const Resource& a, const Resource& b) { return a.value_ == b.value_; }

 protected:
  // Required fields throw Error(missing_field) when absent and Error(decode) when null. Nullable fields return nullopt
  // for absent and null (contains() distinguishes the two).
  [[nodiscard]] Value required(std::string_view field) const;
  [[nodiscard]] std::optional<Value> nullable(std::string_view field) const;
  [[nodiscard]] std::int64_t integer(std::string_view field) const;
  [[nodiscard]] bool boolean(std::string_view field) const { return required(field).boolean(); }
  [[nodiscard]] std::string_view text(std::string_view field) const;
  [[nodiscard]] std::optional<std::string_view> nullable_text(std::string_view field) const;
  [[nodiscard]] std::string_view number_text(std::string_view field) const;
  [[nodiscard]] Id id_field(std::string_view field) const;
  [[nodiscard]] Time time(std::string_view field) const;
  [[nodiscard]] std::optional<Time> nullable_time(std::string_view field) const;
  [[nodiscard]] Value object(std::string_view field) const;
  [[nodiscard]] std::optional<Value> nullable_object(std::string_view field) const;
  [[nodiscard]] Value array(std::string_view field) const;
  /// A field whose value may be any JSON value, including null.
  [[nodiscard]] Value any(std::string_view field) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view field) const;
  template <typename T>
  [[nodiscard]] T view(std::string_view field) const {
    return T(object(field));
  }
  template <typename T>
  [[nodiscard]] std::optional<T> nullable_view(std::string_view field) const {
    auto found = nullable_object(field);
    if (!found) return std::nullopt;
    return T(*std::move(found));
  }
  template <typename T>
  [[nodiscard]] std::vector<T> objects(std::string_view field) const {
    std::vector<T> out;
    const Value items = array(field);
    out.reserve(items.size());
    for (const auto item : items) out.emplace_back(require_object(item.value()));
    return out;
  }

  /// A copy that keeps only this object's JSON in memory, not the whole document.
  [[nodiscard]] Value detached() const;

 private:
  [[nodiscard]] static Value require_object(Value value);

  Value value_;
};

/// Reads a Value as an id (integer or string), a time, or the digits of a number. Throws Error(decode) with the
/// value's path if the value has another type.
[[nodiscard]] Id read_id(const Value& value);
[[nodiscard]] Time read_time(const Value& value);
[[nodiscard]] std::string_view read_number_text(const Value& value);

}  // namespace billcore
