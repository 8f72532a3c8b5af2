// A scenario for each use of the library.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace torture {

/// What a scenario may need of its run.
struct Place {
  std::string base_url;
  int amount;        // amount of the charge under torture
  int amount_after;  // amount of the charge after it
};

/// Thrown by a scenario when the library did something that it must not.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool condition, const char* what) {
  if (!condition) throw Wrong(what);
}

/// Attempts that hooks were told of as begun and not as ended.
inline int open_attempts = 0;

class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Called before the failing run.
  virtual void prepare() {}
  /// Called under torture: throws what the library throws, or Wrong.
  virtual void run() = 0;
  /// Called after it: the objects that `run` used must work. completed: `run` threw nothing.
  virtual void after(bool completed) = 0;
};

struct Entry {
  std::string_view name;
  std::function<std::unique_ptr<Scenario>(const Place&)> make;
  bool writes = false;  // `run` sends the charge of Place::amount, `after` that of amount_after
  bool network = true;  // makes system calls
  bool first_use =
      false;  // in a process that has not used the library before: a leak cannot be told from what is kept permanently
};

/// Of the program that is linked.
std::vector<Entry> all_entries();

const std::vector<Entry>& webhook_scenarios();
const std::vector<Entry>& client_scenarios();
const std::vector<Entry>& async_scenarios();

}  // namespace torture
