// Reads many records by their ids, several at once: get_many() of the groups.
//
// A Many requests the records of the ids one by one with up to ManyOptions::concurrency calls in flight, on one thread
// and without starting another. It takes an id from its source only when it is about to request the record, so memory
// does not grow with the number of ids. There is no background thread: requests progress whenever the caller waits for
// the next record, and a pause between two records does not count towards the time-out of a call. After a 429 the Many
// keeps fewer calls in flight, as a list does. Threads: one at a time. Service interface: Endpoints.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/operation.hpp"
#include "billcore/values.hpp"

namespace billcore {

struct ManyOptions {
  /// How many calls may be in flight at once, from 1.
  int concurrency = 16;
  /// True: the records come in the order of their ids. False: in the order in which the answers arrive.
  bool ordered = true;
};

/// Where a Many gets its ids: a vector, or a function that returns nullopt after the last id.
class IdSource {
 public:
  IdSource(std::function<std::optional<Id>()> next)  // NOLINT(google-explicit-constructor)
      : next_(std::move(next)) {}
  IdSource(std::vector<Id> ids)  // NOLINT(google-explicit-constructor)
      : next_([ids = std::move(ids), at = std::size_t{0}]() mutable -> std::optional<Id> {
          if (at == ids.size()) return std::nullopt;
          return std::move(ids[at++]);
        }) {}
  [[nodiscard]] std::optional<Id> operator()() const { return next_(); }

 private:
  std::function<std::optional<Id>()> next_;
};

/// One of the ids, with its record or the error of its call.
template <typename T>
struct Got {
  Id id;
  std::optional<T> value = {};
  std::optional<Error> error = {};  // set if `value` is not
};

namespace detail {
class BlockingMany;
class Session;
}  // namespace detail

/// The part of a Many that does not depend on the type of the records.
class AnyMany {
 public:
  using Request = std::function<Operation(const Id&)>;
  AnyMany(std::shared_ptr<detail::BlockingMany> calls, IdSource ids, Request request);

  /// Cancels the calls in flight, and forgets their ids. A later next() continues with the ids that were not taken from
  /// the source.
  void stop() noexcept;

 protected:
  [[nodiscard]] std::optional<Got<Value>> next_value();

 private:
  std::shared_ptr<detail::BlockingMany> calls_;
  IdSource ids_;
  Request request_;
};

template <typename T>
class Many : public AnyMany {
 public:
  using AnyMany::AnyMany;

  /// The next record, or the error of its call; nullopt after the last one. Throws Error(timeout) when
  /// CallOptions::total_timeout has passed, Error(interrupted) when the caller's interrupt callback or cancel token
  /// ends the wait (the calls stay in flight, and the next call of next() goes on), Error(config) after
  /// Client::close(), and whatever the source of the ids throws.
  [[nodiscard]] std::optional<Got<T>> next() {
    auto got = next_value();
    if (!got) return std::nullopt;
    Got<T> out{std::move(got->id), std::nullopt, std::move(got->error)};
    if (got->value) out.value.emplace(*std::move(got->value));
    return out;
  }

  /// A single-pass iterator, for `for (auto& got : many)`.
  class Iterator {
   public:
    using value_type = Got<T>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;
    explicit Iterator(Many& many) : many_(&many), got_(many.next()) {}
    [[nodiscard]] Got<T>& operator*() const { return *got_; }
    [[nodiscard]] Got<T>* operator->() const { return &*got_; }
    Iterator& operator++() {
      got_ = many_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) noexcept { return !it.got_; }

   private:
    Many* many_;
    mutable std::optional<Got<T>> got_;
  };
  [[nodiscard]] Iterator begin() { return Iterator(*this); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }
};

}  // namespace billcore
