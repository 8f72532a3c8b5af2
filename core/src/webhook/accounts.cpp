#include "webhook/accounts.hpp"

#include "billcore/error.hpp"

namespace billcore::detail {

Accounts::Accounts(std::span<const AccountSecrets> accounts) {
  if (accounts.empty()) throw Error(ErrorCode::config, "no account was given: pass at least one, with its secrets");
  std::size_t next = 0;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const auto& [account, secrets] = accounts[i];
    // The errors show the account's place, not its name: if the caller swapped names and secrets, the name is a secret.
    const auto which = "account " + std::to_string(i + 1) + " of " + std::to_string(accounts.size());
    if (account.empty()) throw Error(ErrorCode::config, which + " is empty: pass the integer that its events have");
    if (secrets.empty()) throw Error(ErrorCode::config, which + " has no signing secret: pass at least one");
    auto& indexes = indexes_[std::string(account)];
    for (std::size_t n = 0; n < secrets.size(); ++n) indexes.push_back(next++);
  }
}

std::span<const std::size_t> Accounts::secrets_of(std::string_view account) const {
  const auto found = indexes_.find(account);
  return found != indexes_.end() ? found->second : std::span<const std::size_t>();
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
