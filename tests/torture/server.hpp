// The server of the torture runs: a separate process in which no call fails, and which counts the requests it receives.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <string>

#include "../core/support/listener.hpp"

namespace torture {

/// A charge is identified by its amount, which is below this number.
constexpr int amounts = 16;

/// Counters of the connections, requests and charges that the server has received, in memory shared with the server's
/// process.
struct Ledger {
  std::atomic<int> open{0};                             // open connections
  std::atomic<int> requests{0};                         // requests received completely
  std::array<std::atomic<int>, amounts> charges_whole;  // number of charges received completely, by amount
};

/// Each list has this many pages, and each page this many orders.
constexpr int pages = 3;
constexpr int orders_per_page = 2;
/// If the path of the base URL ends with this text, the server compresses its answers.
inline constexpr const char* compressed_account = "-gzip";
/// Returns the name of an order of the list; `number` counts from 0.
std::string listed_order(int number);

class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::string base_url() const { return listener_.url("/acct"); }
  void forget() noexcept;
  /// Waits until the ledger has every request sent so far. Call it only when the clients have closed all connections.
  void settle() const;
  [[nodiscard]] int charges(int amount) const { return ledger_->charges_whole.at(static_cast<std::size_t>(amount)); }

 private:
  billcore::test::Listener listener_;
  Ledger* ledger_;
  pid_t process_;
};

}  // namespace torture
