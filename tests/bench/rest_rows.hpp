// The rows of the rest tables that are in C and C++: who makes a GET and reads its answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rest {

/// Where a row gets its answers from.
struct Server {
  std::string base_url;
  std::string ca_file;
};

inline constexpr std::string_view subscription = "/subscription/sub_1001";
inline constexpr std::string_view id = "sub_1001";
inline constexpr std::string_view api_key = "key_bench_0123456789";

/// A client with its connections.
class Row {
 public:
  Row() = default;
  virtual ~Row() = default;
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  /// Makes `count` GETs. The lengths of all that was read, added up: a wrong answer shows.
  virtual std::size_t run(std::size_t count) = 0;
  /// What one GET reads: the body, or id, reference_id and status with tabs between them.
  virtual std::string show() = 0;
  /// A GET that must run into this time-out; throws when it ends otherwise.
  virtual void run_late(std::chrono::milliseconds timeout) = 0;
};

/// name: raw or raw_yyjson. at_once: how many requests are under way at a time; 1 is curl_easy_perform.
std::unique_ptr<Row> make_raw(std::string_view name, const Server& server, int at_once);
/// name: cpp or c. at_once: threads.
std::unique_ptr<Row> make_billcore(std::string_view name, const Server& server, int at_once);

}  // namespace rest
