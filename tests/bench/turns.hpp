// Implements the protocol of turns.py on stdin and stdout, in which turns.py sends commands to a C or C++ benchmark
// program.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace turns {

/// The server that answers a contender's requests.
struct Server {
  std::string base_url;
  std::string ca_file;  // empty: no TLS
};

inline constexpr std::string_view api_key = "key_bench_0123456789";

/// A contender: a client with its connections.
class Row {
 public:
  Row() = default;
  virtual ~Row() = default;
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  /// Performs `count` operations. Returns the total length of the values that the operations read, by which turns.py
  /// detects a wrong answer.
  virtual std::size_t run(std::size_t count) = 0;
  /// Returns the values that one operation reads.
  virtual std::string show() = 0;
  /// Makes a GET that must end with a time-out after `timeout`; throws if the GET ends in any other way.
  virtual void run_late(std::chrono::milliseconds timeout);
};

/// at_once: number of requests in flight.
using Make = std::unique_ptr<Row>(std::string_view name, const Server& server, int at_once);

/// Measures one contender: reads commands from stdin, and prints an answer to each (turns.py has the protocol). argv[1]
/// is the contender's name, argv[2] the CA_FILE. The first command for a server makes a Row, which later ones reuse.
int serve(int argc, char** argv, Make* make);

}  // namespace turns
