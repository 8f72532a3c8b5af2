// State shared by a client, its groups and its lists. Internal.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "billcore/operation.hpp"
#include "billcore/options.hpp"
#include "billcore/response.hpp"
#include "call/answer.hpp"
#include "call/call.hpp"

namespace billcore::detail {

class Session {
 public:
  /// Validates the options; throws Error(config) if one is invalid.
  explicit Session(ClientOptions options, RetryEnvironment environment = {});
  /// A session that uses the connections of `original`. Throws Error(config) if an option is invalid or `original` is
  /// closed.
  Session(const Session& original, const ClientChanges& changes);

  /// Sends an operation, retries it where that is safe (retry.hpp), and calls `read` with the completed operation.
  void send(const Operation& operation, const CallOptions& options, const std::function<void(Completed&)>& read);
  // Like send(), but each function returns one kind of result.
  [[nodiscard]] Value resource(const Operation& operation, const CallOptions& options);
  [[nodiscard]] std::shared_ptr<const Document> list(const Operation& operation, const CallOptions& options);
  [[nodiscard]] Response response(const Operation& operation, bool raise_on_error, const CallOptions& options);

  /// Throws Error(config) after close().
  void require_open() const;
  /// Closes the session; returns whether it owns the connections.
  bool close() noexcept;
  [[nodiscard]] const ClientSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] Deadline deadline(const CallOptions& options) const;
  /// Leases an engine for `operation` and the requests after it, `at_once` of which may be in flight. Throws the
  /// operation's error if no connection becomes free until `until`.
  [[nodiscard]] EnginePool::Lease lease(const Operation& operation, int at_once, const Deadline& until,
                                        const CallOptions& options) const;
  [[nodiscard]] Hooks* hooks(const CallOptions& options) const noexcept;
  [[nodiscard]] const std::function<bool()>& interrupt_of(const CallOptions& options) const noexcept {
    return options.interrupt ? options.interrupt : settings_.options.interrupt;
  }

 private:
  ClientSettings settings_;
  bool owner_;  // close() closes the connections only if this session owns them
  std::atomic<bool> closed_{false};
};

using SessionPtr = std::shared_ptr<Session>;

/// The time `timeout` from now; nullopt for no_timeout. Throws Error(invalid_argument), with the name of the option, if
/// `timeout` is not more than 0.
[[nodiscard]] Deadline deadline_after(std::chrono::milliseconds timeout, const char* name);
[[nodiscard]] inline Deadline earlier(const Deadline& a, const Deadline& b) noexcept {
  return !a || (b && *b < *a) ? b : a;
}

/// The error of a call that was interrupted before an answer arrived.
[[nodiscard]] Error interruption_error(const RequestInfo& request, const Call::SendState& left);
/// Ends a call because of an interruption, whether or not the call is done. Returns an error that describes the known
/// outcome of a write.
[[nodiscard]] Error end_by_interruption(Call& call);

}  // namespace billcore::detail
