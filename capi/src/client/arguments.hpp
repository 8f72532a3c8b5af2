// The arguments of an operation, set by their names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/json.hpp"
#include "billcore/values.hpp"
#include "client/operation_option_names.hpp"

namespace billcore::capi {

struct Argument {
  /// `texts` takes one text or several; `id` takes a text or an integer.
  enum class Type : std::uint8_t { text, integer, flag, texts, id };
  std::string_view name;
  Type type;
  bool is_required;
};

/// The values of an operation's arguments. A function that reads a value takes the index of its argument in the
/// operation's row. Texts as long as an id have room in the object, so that most operations need no memory besides it.
class Arguments {
 public:
  explicit Arguments(std::string_view operation, std::span<const Argument> known) noexcept
      : operation_(operation), known_(known) {}
  Arguments(const Arguments&) = delete;  // the values refer to texts of this object
  Arguments& operator=(const Arguments&) = delete;

  // Each overload throws Error(invalid_argument) if no argument has this name, or if it has another type.
  void set(std::string_view name, std::string_view text);
  void set(std::string_view name, std::int64_t number);
  void set(std::string_view name, bool flag);
  /// Adds a text to the argument that takes several.
  void add(std::string_view name, std::string_view text);
  /// Throws Error(invalid_argument): no argument has this name, or it has another type.
  [[noreturn]] void reject(std::string_view name) const;
  /// Throws Error(invalid_argument) for the first required argument that has no value.
  void require_all() const {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].is_required && values_[i].text == nullptr) refuse_without(known_[i]);
    }
  }

  [[nodiscard]] Id id(std::size_t at) const {
    if (values_[at].text == not_text) return values_[at].number;
    return text(at);
  }
  [[nodiscard]] std::string_view text(std::size_t at) const noexcept {
    return {values_[at].text, static_cast<std::size_t>(values_[at].number)};
  }
  [[nodiscard]] std::int64_t integer(std::size_t at) const noexcept { return values_[at].number; }
  [[nodiscard]] std::optional<std::string> optional_text(std::size_t at) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::size_t at) const noexcept;
  [[nodiscard]] const std::vector<std::string>& texts(std::size_t /*at*/) const noexcept { return texts_; }
  [[nodiscard]] bool flag(std::size_t at) const noexcept { return values_[at].number != 0; }

 private:
  static constexpr const char* not_text = "";  // Value::text of a number
  struct Value {
    const char* text = nullptr;  // nullptr: the argument has no value
    std::int64_t number = 0;     // of a text: its length
  };

  /// The place of the argument; throws Error(invalid_argument) if no argument has this name and one of the types.
  template <typename... Types>
  [[nodiscard]] std::size_t find(std::string_view name, Types... types) const {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].name == name && ((known_[i].type == types) || ...)) return i;
    }
    reject(name);
  }
  [[nodiscard]] const char* keep(std::string_view text);
  [[noreturn]] void refuse_without(const Argument& argument) const;

  std::string_view operation_;
  std::span<const Argument> known_;
  std::array<Value, most_arguments> values_;
  std::size_t used_ = 0;       // of room_
  std::array<char, 64> room_;  // NOLINT(cppcoreguidelines-pro-type-member-init) keep() writes before it is read
  std::forward_list<std::string> longer_;
  std::vector<std::string> texts_;  // the value of the argument that takes several
};

/// Sets a field of a product to JSON. Throws Error(invalid_argument) for text that is not JSON.
void set_field(JsonObject& to, std::string_view name, const std::string& json);

/// Of the names, the one that differs least from `given`.
[[nodiscard]] std::string_view nearest(std::string_view given, std::span<const std::string_view> names);

}  // namespace billcore::capi
