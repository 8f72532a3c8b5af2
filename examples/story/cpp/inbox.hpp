// Handles webhook deliveries: verifies the raw bytes, parses them, drops duplicates, and keeps the other events.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/webhook.hpp"

class Inbox {
 public:
  /// The deliveries that have arrived so far.
  struct Contents {
    std::vector<billcore::Event> events;
    std::vector<billcore::Event> duplicates;
    std::vector<billcore::SignatureReason> refused;
  };

  /// Sets the endpoint's secret, which the service creates when the URL is registered.
  void trust(std::string_view secret);
  /// Handles one delivery and returns the HTTP status of the answer. May be called from any thread.
  unsigned receive(std::string_view body, billcore::HeaderFields headers);
  /// Waits until at least this many events and duplicates have arrived, or until the time-out. Returns the
  /// deliveries that have arrived so far.
  Contents wait_for(std::size_t events, std::size_t duplicates,
                    std::chrono::seconds timeout = std::chrono::seconds(30));

 private:
  unsigned keep(billcore::Event event);
  bool claim(const billcore::Event& event);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<billcore::Verifier> verifier_;
  std::set<std::pair<std::int64_t, std::string>> claimed_;
  Contents contents_;
};
