// The sandbox's control routes: tests call them to act as the admin UI or a customer, to let time pass, and to cause
// failures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "billcore/client.hpp"

class Control {
 public:
  /// control_url is the value in the sandbox's ready line. Control routes need no key, but a client always sends one.
  explicit Control(const std::string& control_url) : client_({.base_url = control_url, .api_key = "none"}) {}

  void reset() const { post("/reset"); }
  void renew(const billcore::Id& subscription) const { post("/subscriptions/" + subscription.text() + "/renew"); }
  /// Makes the sandbox perform the next charge, and reset the connection instead of answering.
  void lose_the_next_charge_answer() const;
  /// The secret of a registered URL; empty when there is none.
  [[nodiscard]] std::string endpoint_secret(std::string_view url) const;
  /// Number of effects of a kind in the service's ledger.
  [[nodiscard]] std::size_t effects(std::string_view kind) const;

 private:
  void post(const std::string& path, const std::string& json = "{}") const;

  billcore::Client client_;
};
