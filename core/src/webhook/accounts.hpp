// Which secrets of a Verifier belong to which account. Internal.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/webhook.hpp"

namespace billcore::detail {

class Accounts {
 public:
  /// No accounts: the Verifier has only secrets.
  Accounts() = default;
  /// Throws Error(config) if there is no account, or an account without a name or without a secret.
  explicit Accounts(std::span<const AccountSecrets> accounts);

  [[nodiscard]] bool empty() const noexcept { return indexes_.empty(); }
  /// The indexes of the secrets of an account, in ascending order; empty for an account that is not known.
  [[nodiscard]] std::span<const std::size_t> secrets_of(std::string_view account) const;

 private:
  std::map<std::string, std::vector<std::size_t>, std::less<>> indexes_;
};

/// The secrets of all accounts, in the order of their indexes.
[[nodiscard]] std::vector<std::string_view> all_secrets(std::span<const AccountSecrets> accounts);

/// The account that an event names, as text; "" if the event names none.
[[nodiscard]] std::string account_of(const Event& event);

}  // namespace billcore::detail
