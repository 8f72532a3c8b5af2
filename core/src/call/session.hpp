// What a client and all it hands out share. Internal.
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
  /// Checks the options; Error(config).
  explicit Session(ClientOptions options, RetryEnvironment environment = {});
  /// Another one over the same connections. Error(config).
  Session(const Session& original, const ClientChanges& changes);

  /// Sends an operation, again where that is safe (retry.hpp), and gives its end to `read`.
  void send(const Operation& operation, const CallOptions& options, const std::function<void(Completed&)>& read);
  // The same, for one kind of result each.
  [[nodiscard]] Value resource(const Operation& operation, const CallOptions& options);
  [[nodiscard]] std::shared_ptr<const Document> list(const Operation& operation, const CallOptions& options);
  [[nodiscard]] Response response(const Operation& operation, bool raise_on_error, const CallOptions& options);

  /// Error(config) after close().
  void require_open() const;
  /// True when this session owned the connections.
  bool close() noexcept;
  [[nodiscard]] const ClientSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] Deadline deadline(const CallOptions& options) const;
  [[nodiscard]] Hooks* hooks(const CallOptions& options) const noexcept;

 private:
  ClientSettings settings_;
  bool owner_;  // of the connections: closing another session leaves them open
  std::atomic<bool> closed_{false};
};

using SessionPtr = std::shared_ptr<Session>;

/// The error of a call that ended because it was told to, before an answer came.
[[nodiscard]] Error interrupted(const RequestInfo& request, const Call::SendState& left);
/// Ends a call that was told to, whatever has come of it by then: the error says what became of a write.
[[nodiscard]] Error interrupt(Call& call);

}  // namespace billcore::detail
