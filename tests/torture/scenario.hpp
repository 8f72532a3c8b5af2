// What is tortured: a scenario for each way of use.
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
  int amount;        // of the charge under torture
  int amount_after;  // of the charge after it
};

/// Found by a scenario: the library did something that it must not.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool condition, const char* what) {
  if (!condition) throw Wrong(what);
}

class Scenario {
 public:
  virtual ~Scenario() = default;
  /// Before the torture.
  virtual void prepare() {}
  /// Under torture: throws what the library throws, or Wrong. Its result is one that the library gave.
  virtual void run() = 0;
  /// After it: what `run` used must work. completed: `run` threw nothing.
  virtual void after(bool completed) = 0;
};

struct Entry {
  std::string_view name;
  std::function<std::unique_ptr<Scenario>(const Place&)> make;
  bool writes = false;  // `run` sends the charge of Place::amount, `after` that of amount_after
  bool network = true;  // makes system calls
  bool first_use =
      false;  // in a process that has not used the library before: no leak can be told from what stays for good
};

const std::vector<Entry>& webhook_scenarios();
const std::vector<Entry>& client_scenarios();
const std::vector<Entry>& async_scenarios();

}  // namespace torture
