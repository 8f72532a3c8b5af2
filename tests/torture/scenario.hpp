// The interface of a torture scenario. Each scenario uses the library in one way.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// The inputs of one repetition of a scenario: the server's URL, and an amount for each charge, by which the server
/// identifies the charge.
struct Place {
  std::string base_url;
  int amount;        // amount of the charge that run() makes
  int amount_after;  // amount of the charge that after() makes
};

/// Thrown by a scenario when the library did something that it must not do.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool condition, const char* what) {
  if (!condition) throw Wrong(what);
}

/// Number of attempts for which on_request has been called but on_response has not.
inline int open_attempts = 0;

class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Called before run(): no call is made to fail yet.
  virtual void prepare() {}
  /// Called while calls are made to fail: throws the library's error, or Wrong.
  virtual void run() = 0;
  /// Called after run(): no call is made to fail any more, and the objects that run() used must still work. completed:
  /// whether run() returned normally.
  virtual void after(bool completed) = 0;
};

struct Entry {
  std::string_view name;
  std::function<std::unique_ptr<Scenario>(const Place&)> make;
  bool writes = false;  // run() makes a charge of Place::amount, after() a charge of Place::amount_after
  bool network = true;  // the scenario makes system calls
  bool first_use =
      false;  // first use of the library in this process; leaks are not judged, as permanent memory looks like a leak
};

/// Returns the scenarios of this program. Each torture program is linked with its own definition of this function.
std::vector<Entry> all_entries();

}  // namespace torture
