#include "billcore/async_client.hpp"

#include <utility>

#include "client/loop.hpp"

namespace billcore {

AsyncClient::AsyncClient(const Client& client)
    : session_(client.session_), loop_(std::make_shared<detail::Loop>(session_->settings().state->pool.options())) {}

AsyncClient::AsyncClient(const Client& client, const AsyncClient& beside)
    : session_(client.session_), loop_(beside.loop_) {}

int AsyncClient::descriptor() const { return loop_->descriptor; }

void AsyncClient::process() {
  const auto kept = loop_;  // a `done` callback may destroy the last AsyncClient
  kept->process();
}

AsyncClient::CallId AsyncClient::start(Operation operation, const CallOptions& call, Done done) {
  session_->require_open();
  detail::refuse_token(call);
  const auto kept = loop_;  // a hook may destroy the last AsyncClient
  return kept->start(session_, std::move(operation), call, std::move(done));
}

AsyncClient::Cancelled AsyncClient::cancel(CallId id) {
  const auto kept = loop_;  // a hook may destroy the last AsyncClient
  return kept->cancel(id);
}

std::size_t AsyncClient::running() const noexcept { return loop_->calls.size() + loop_->waiting; }

}  // namespace billcore
