// Value types of fields: ids and times.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace billcore {

/// An opaque id: its text, and whether it is a JSON integer. The library never checks the format of an id; ids
/// round-trip as received. (The service interface says that clients store ids "without validating the format"; see
/// Events, Envelope.)
class Id {
 public:
  Id(std::string text) : text_(std::move(text)) {}                            // NOLINT(google-explicit-constructor)
  Id(std::string_view text) : text_(text) {}                                  // NOLINT(google-explicit-constructor)
  Id(const char* text) : text_(text) {}                                       // NOLINT(google-explicit-constructor)
  Id(std::int64_t number) : text_(std::to_string(number)), integer_(true) {}  // NOLINT(google-explicit-constructor)
  Id(int number) : Id(static_cast<std::int64_t>(number)) {}                   // NOLINT(google-explicit-constructor)
  /// An integer id of any length, given by its digits.
  static Id from_digits(std::string_view digits) {
    Id id(digits);
    id.integer_ = true;
    return id;
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] bool is_integer() const noexcept { return integer_; }

  /// The ids 7 and "7" are not equal; same_id() compares only their texts.
  friend bool operator==(const Id&, const Id&) = default;

 private:
  std::string text_;
  bool integer_ = false;
};

/// Whether two ids name the same record: true when their texts are equal, because the same id may be an integer in a
/// webhook and a string in the REST interface. Compare only ids of the same kind of record. The texts are not
/// normalised: the ids "07" and 7 differ. (The service interface says that clients store ids "without validating the
/// format"; see Events.)
[[nodiscard]] inline bool same_id(const Id& a, const Id& b) noexcept { return a.text() == b.text(); }

/// A moment in UTC, with microsecond precision.
using Instant = std::chrono::sys_time<std::chrono::microseconds>;

/// An ISO 8601 date-time as received, and its instant (in UTC if the text has no offset).
struct Time {
  std::string_view text;              // the date-time as received; valid while the resource's document exists
  Instant at;                         // truncated to microseconds
  std::optional<int> offset_minutes;  // offset from UTC as received; 0 for Z; nullopt when absent
};

/// Parses `YYYY-MM-DDTHH:MM[:SS[.fraction]][Z|±HH:MM|±HHMM|±HH]` (a space may replace the T); nullopt otherwise.
[[nodiscard]] std::optional<Time> parse_time(std::string_view text) noexcept;

}  // namespace billcore
