// The calls of a get_many(). Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "billcore/many.hpp"
#include "call/session.hpp"

namespace billcore::detail {

/// What tells the results apart.
struct ReadKey {
  Id id;
  std::uint64_t number = 0;  // of the C ABI
  std::int32_t kind = 0;     // of the C ABI
};

/// The result of a read: its record, or its error.
struct ReadResult {
  ReadKey key;
  std::optional<Value> value = {};
  std::optional<Error> error = {};
};

/// The result for a program, which knows the read by its id.
[[nodiscard]] Got<Value> got(ReadResult result);

/// Throws Error(invalid_argument) if the id is not an integer.
[[nodiscard]] std::int64_t integer_of(const Id& id);

/// Keeps several calls in flight with an engine that the caller drives, so ManyCalls itself never blocks. Threads: one
/// at a time.
class ManyCalls {
 public:
  /// Throws Error(invalid_argument) if an option is invalid.
  ManyCalls(SessionPtr session, const ManyOptions& options, CallOptions call);
  ~ManyCalls();
  ManyCalls(const ManyCalls&) = delete;
  ManyCalls& operator=(const ManyCalls&) = delete;

  /// Whether add() may be called now.
  [[nodiscard]] bool wants() const noexcept;
  /// Starts the call for an id. Throws Error(timeout) if the total time-out has passed.
  void add(Engine& engine, ReadKey key, Operation get);
  [[nodiscard]] bool empty() const noexcept { return slots_.empty(); }
  [[nodiscard]] bool in_flight() const noexcept { return in_flight_ > 0; }
  /// At most as many calls in flight as the engine has connections; 0: as many as the options say.
  void limit(int connections) noexcept { connections_ = connections; }
  /// Whether take() has a result. Starts a call again that failed because of a pause in which the engine was not driven.
  [[nodiscard]] bool has(Engine& engine);
  /// Removes and returns a result that has() announced. Throws Error(timeout) instead, if the total time-out ended the
  /// call.
  [[nodiscard]] ReadResult take();
  /// The error of a wait that was interrupted.
  [[nodiscard]] Error interruption() const;
  /// Calls `ready` once when the call that take() waits for has ended. An empty function ends the wait.
  void tell(std::function<void()> ready) { ready_ = std::move(ready); }
  /// For a caller that does not drive the engine all the time: call pause() when it stops to, and resume() before it
  /// drives the engine again. The time between does not count towards the time-out of a call.
  void pause() noexcept { paused_ = SteadyClock::now(); }
  void resume();
  /// For a forked child: leaks the calls, which belong to the parent.
  void abandon() noexcept;
  /// Gives up all calls, and forgets their ids.
  void clear() noexcept;
  /// For a forked child: leaks the calls, which belong to the parent, and starts them again with `engine`.
  void begin_again(Engine& engine);

  [[nodiscard]] const SessionPtr& session() const noexcept { return session_; }
  [[nodiscard]] const CallOptions& options() const noexcept { return call_; }
  [[nodiscard]] int concurrency() const noexcept { return options_.concurrency; }
  /// The request of the first id without a result.
  [[nodiscard]] const Operation& first() const noexcept;

 private:
  struct Slot;
  void begin(Engine& engine, Slot& slot);
  void ended(Slot& slot) noexcept;
  [[nodiscard]] bool is_late() const noexcept { return total_ && SteadyClock::now() >= *total_; }
  [[nodiscard]] Error total_error() const;

  SessionPtr session_;
  ManyOptions options_;
  CallOptions call_;
  std::deque<std::unique_ptr<Slot>> slots_;  // in the order of the ids
  std::int64_t in_flight_ = 0;
  int connections_ = 0;
  std::int64_t allowed_;  // maximum number of calls in flight
  Deadline total_;        // set by the first call
  std::function<void()> ready_;
  std::optional<SteadyClock::time_point> paused_;
};

/// A get_many() that blocks. Leases an engine while calls are in flight. Threads: one at a time.
class BlockingMany {
 public:
  BlockingMany(SessionPtr session, const ManyOptions& options, CallOptions call);
  ~BlockingMany();
  BlockingMany(const BlockingMany&) = delete;
  BlockingMany& operator=(const BlockingMany&) = delete;

  [[nodiscard]] bool wants() const noexcept { return calls_.wants(); }
  void add(ReadKey key, Operation get);
  /// Waits for the next result; nullopt if there is no id without a result.
  [[nodiscard]] std::optional<ReadResult> next();
  void stop() noexcept;

 private:
  // `first` is the request that waits for a connection, if there is none.
  [[nodiscard]] Engine& engine(const Operation& first);

  std::unique_ptr<EnginePool::Lease> lease_;
  ManyCalls calls_;  // destroyed before the engine
};

}  // namespace billcore::detail
