// State shared by the calls and lists of one event loop. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "billcore/async_client.hpp"
#include "call/session.hpp"
#include "http/fork_mark.hpp"

namespace billcore::detail {

/// Throws Error(invalid_argument) if the options have a cancel token: another thread may trigger it, but a loop's
/// connections may be used only on the loop's thread.
void refuse_token(const CallOptions& options);

/// One operation in flight. `call` refers to the other members, so it is declared last.
struct PendingCall {
  PendingCall(SessionPtr from, Engine& engine, Operation what, const CallOptions& options, AsyncClient::Done then)
      : session(std::move(from)),
        operation(std::move(what)),
        hooks(options.hooks),
        done(std::move(then)),
        call(session->settings(), engine, operation, session->deadline(options), session->hooks(options)) {}

  SessionPtr session;
  Operation operation;
  std::shared_ptr<Hooks> hooks;
  AsyncClient::Done done;
  Call call;
};

struct Loop {
  explicit Loop(TransportOptions options);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] AsyncClient::CallId start(SessionPtr session, Operation operation, const CallOptions& options,
                                          AsyncClient::Done done);
  AsyncClient::Cancelled cancel(AsyncClient::CallId id);
  void process();
  /// Returns false in a forked child, because the loop's calls and connections belong to the parent.
  [[nodiscard]] bool is_ours() const noexcept;

  TransportOptions options;
  std::shared_ptr<Descriptors> descriptors;
  // The engine for writes, where connections carry several requests: a write has its connection alone, so that the
  // connection can be reset when the write is given up. nullptr until the first write.
  std::unique_ptr<Engine> writes;
  std::unique_ptr<Engine> engine;
  int descriptor;
  std::size_t waiting = 0;  // number of lists that wait for a page
  // The pending calls; declared after the engines, so that they are destroyed before them.
  std::unordered_map<AsyncClient::CallId, std::unique_ptr<PendingCall>> calls;

 private:
  [[nodiscard]] Engine& engine_for(const Operation& operation);
  void finish(AsyncClient::CallId id) noexcept;
  void finish_early() noexcept;

  mutable ForkMark mark_;
  std::uint64_t process_;
  AsyncClient::CallId last_ = 0;
  bool starting_ = false;
  bool early_ = false;  // an operation ended within start(), and its `done` must still be called
};

}  // namespace billcore::detail
