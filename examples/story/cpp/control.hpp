// Calls the sandbox's control routes, with which a test acts as the admin UI or a customer, lets time pass, and
// causes failures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "billcore/client.hpp"

class Control {
 public:
  /// control_url is the value of that name in the line of JSON that the sandbox prints when it is ready. The control
  /// routes need no API key, but a client always sends one.
  explicit Control(const std::string& control_url) : client_({.base_url = control_url, .api_key = "none"}) {}

  void reset() const { post("/reset"); }
  void renew(const billcore::Id& subscription) const { post("/subscriptions/" + subscription.text() + "/renew"); }
  /// Makes the sandbox perform the next charge but reset the connection instead of answering.
  void lose_the_next_charge_answer() const;
  /// The signing secret of a registered webhook URL; empty if the URL is not registered.
  [[nodiscard]] std::string endpoint_secret(std::string_view url) const;
  /// Number of effects of one kind in the sandbox's ledger.
  [[nodiscard]] std::size_t effects(std::string_view kind) const;

 private:
  void post(const std::string& path, const std::string& json = "{}") const;

  billcore::Client client_;
};
