// The fastest possible HMAC-SHA256 with libcrypto, as the lower limit in the webhook tables. The class prepares the SHA
// states once, and copies them for each message.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

class ShaLimit {
 public:
  explicit ShaLimit(std::string_view secret);
  ~ShaLimit();
  [[nodiscard]] bool verify(std::string_view body, const std::array<std::uint8_t, 32>& claimed) const;

 private:
  struct States;
  std::unique_ptr<States> states_;
};
