// What a client and all it hands out share: checked options and the engines. Internal.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "billcore/options.hpp"
#include "pool.hpp"
#include "retry.hpp"

namespace billcore::detail {

/// One call: a request target and a body.
struct Call {
  std::string method;
  std::string path;  // encoded, begins with a slash
  std::vector<std::pair<std::string, std::string>> query = {};
  std::optional<std::string> body = std::nullopt;
};

class Session {
 public:
  /// Checks the options; Error(config).
  explicit Session(ClientOptions options, RetrySources sources = {});
  /// Another one over the same connections. Error(config).
  Session(const Session& original, const ClientChanges& changes);

  /// Sends a call, again where that is safe (retry.hpp), and gives back its complete answer, whatever its status.
  [[nodiscard]] Answer send(const Call& call, const CallOptions& options);
  /// The same, and throws for every status but 2xx.
  [[nodiscard]] Answer succeed(const Call& call, const CallOptions& options);
  /// A successful answer's `data`, an object.
  [[nodiscard]] Value resource(const Call& call, const CallOptions& options);
  /// A successful answer with the array `data` and the object `pagination`.
  [[nodiscard]] std::shared_ptr<const Document> list(const Call& call, const CallOptions& options);
  /// Error(config) after close().
  void require_open() const;
  void close() noexcept;

 private:
  // What sessions over the same connections have in common.
  struct Shared {
    EnginePool pool;
    Throttle throttle;
    RetrySources sources;
  };

  [[nodiscard]] RequestInfo info(const Call& call) const;
  [[nodiscard]] RequestInfo info(const Call& call, const Answer& answer) const;
  [[nodiscard]] Deadline deadline(const CallOptions& options) const;
  // One attempt.
  [[nodiscard]] Transfer exchange(const RequestInfo& request, const Call& call, Deadline deadline, bool fresh = false);
  void sleep(std::chrono::milliseconds length, const RequestInfo& request);

  ClientOptions options_;
  std::string request_id_header_;  // in lower case
  std::shared_ptr<const RequestHeaders> headers_;
  std::shared_ptr<Shared> shared_;
  bool owner_;  // of the connections: closing another session leaves them open
  std::atomic<bool> closed_{false};
};

}  // namespace billcore::detail
