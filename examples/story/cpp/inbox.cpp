#include "inbox.hpp"

void Inbox::trust(std::string_view secret) {
  const std::lock_guard lock(mutex_);
  verifier_.emplace(secret);
}

unsigned Inbox::receive(std::string_view body, billcore::HeaderFields headers) {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  if (!verifier_) return 503;
  try {
    return keep(verifier_->unwrap_request(body, headers));
  } catch (const billcore::Error& error) {
    if (error.code() == billcore::ErrorCode::decode) return 400;  // signed, but not readable
    if (error.code() != billcore::ErrorCode::signature) throw;
    contents_.refused.push_back(error.detail().reason);
    return static_cast<unsigned>(error.detail().http_status);
  }
}

unsigned Inbox::keep(billcore::Event event) {
  // With a database, record the event and apply its effect in one transaction.
  if (!claim(event)) {
    contents_.duplicates.push_back(std::move(event));
    return 200;
  }
  contents_.events.push_back(std::move(event));
  // Only in this example: answer 500 to the first event although it was kept, so that the service delivers it again.
  return contents_.events.size() == 1 ? 500 : 200;
}

// Records an event; returns false if the event was recorded before. Every test.hook has the id 0, so a test.hook
// never counts as a duplicate.
bool Inbox::claim(const billcore::Event& event) {
  if (event.type() == billcore::EventType::test_hook) return true;
  return claimed_.emplace(event.account(), event.id().text()).second;
}

Inbox::Contents Inbox::wait_for(std::size_t events, std::size_t duplicates, std::chrono::seconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout,
                    [&] { return contents_.events.size() >= events && contents_.duplicates.size() >= duplicates; });
  return contents_;
}
