#include <billcore/webhook.hpp>

int main() {
  const std::string secret = "0123456789abcdef0123456789abcdef";
  const auto signature = billcore::webhooks::sign("{}", secret);
  return static_cast<int>(billcore::webhooks::verify("{}", signature, secret).secret_index());
}
