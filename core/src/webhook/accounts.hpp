// Which secrets of a Verifier belong to which account. Internal.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
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
  /// The index of the account's own secret with the same bytes as the secret `index`, which may be another account's;
  /// nullopt if the account has none, or is not known.
  [[nodiscard]] std::optional<std::size_t> own_secret(std::string_view account, std::size_t index) const;

 private:
  std::map<std::string, std::vector<std::size_t>, std::less<>> indexes_;  // indexes of each account's secrets
  std::vector<std::size_t> first_equal_;  // for each secret, the index of the first secret with the same bytes
};

/// The secrets of all accounts, in the order of their indexes.
[[nodiscard]] std::vector<std::string_view> all_secrets(std::span<const AccountSecrets> accounts);

/// The account that an event names, as text; "" if the event names none.
[[nodiscard]] std::string account_of(const Event& event);

}  // namespace billcore::detail
