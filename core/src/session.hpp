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
  explicit Session(ClientOptions options);

  /// Sends a call once, waits for its complete answer and gives it back, whatever its status.
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
  [[nodiscard]] RequestInfo info(const Call& call) const;
  [[nodiscard]] Deadline deadline(const CallOptions& options) const;

  ClientOptions options_;
  std::string request_id_header_;  // in lower case
  EnginePool pool_;
  std::atomic<bool> closed_{false};
};

}  // namespace billcore::detail
