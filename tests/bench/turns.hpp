// A contender in C or C++ that waits for its turn: speaks the protocol of turns.py on stdin and stdout.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace turns {

/// Where a row gets its answers from.
struct Server {
  std::string base_url;
  std::string ca_file;  // may be empty
};

inline constexpr std::string_view api_key = "key_bench_0123456789";

/// A client with its connections.
class Row {
 public:
  Row() = default;
  virtual ~Row() = default;
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  /// Does so many of what the area measures. The lengths of all that was read, added up: a wrong answer shows.
  virtual std::size_t run(std::size_t count) = 0;
  /// What one of them reads.
  virtual std::string show() = 0;
  /// A GET that must run into this time-out; throws when it ends otherwise.
  virtual void run_late(std::chrono::milliseconds timeout);
};

/// at_once: how many requests are under way at a time.
using Make = std::unique_ptr<Row>(std::string_view name, const Server& server, int at_once);

/// main(): PROGRAM ROW [CA_FILE]. Rows are made on first use and kept.
int serve(int argc, char** argv, Make* make);

}  // namespace turns
