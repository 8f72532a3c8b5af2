#include "webhook/accounts.hpp"

#include "billcore/error.hpp"

namespace billcore::detail {

Accounts::Accounts(std::span<const AccountSecrets> accounts) {
  if (accounts.empty()) throw Error(ErrorCode::config, "no account was given: pass at least one, with its secrets");
  std::map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const auto& [account, secrets] = accounts[i];
    // The errors show the account's place, not its name: if the caller swapped names and secrets, the name is a secret.
    const auto which = "account " + std::to_string(i + 1) + " of " + std::to_string(accounts.size());
    if (account.empty()) throw Error(ErrorCode::config, which + " is empty: pass the integer that its events have");
    if (secrets.empty()) throw Error(ErrorCode::config, which + " has no signing secret: pass at least one");
    auto& indexes = indexes_[std::string(account)];
    for (const auto secret : secrets) {
      const auto index = first_equal_.size();
      indexes.push_back(index);
      first_equal_.push_back(known.emplace(secret, index).first->second);
    }
  }
}

std::optional<std::size_t> Accounts::own_secret(std::string_view account, std::size_t index) const {
  const auto found = indexes_.find(account);
  if (found == indexes_.end()) return std::nullopt;
  for (const auto own : found->second) {
    if (first_equal_[own] == first_equal_[index]) return own;
  }
  return std::nullopt;
}

std::vector<std::string_view> all_secrets(std::span<const AccountSecrets> accounts) {
  std::vector<std::string_view> out;
  for (const auto& each : accounts) out.insert(out.end(), each.secrets.begin(), each.secrets.end());
  return out;
}

std::string account_of(const Event& event) {
  const auto account = event.value().find("account");
  if (!account || (account->kind() != Value::Kind::string && account->kind() != Value::Kind::integer)) return {};
  return std::string(read_id(*account).text());
}

}  // namespace billcore::detail
