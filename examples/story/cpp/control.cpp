#include "control.hpp"

void Control::post(const std::string& path, const std::string& json) const {
  client_.request("POST", path, {.json = json});
}

void Control::lose_the_next_charge_answer() const {
  post("/faults", R"({"kind":"reset_after","method":"POST","path":"/subscription/*/order"})");
}

std::string Control::endpoint_secret(std::string_view url) const {
  const auto answer = client_.request("GET", "/endpoints").json();
  const auto endpoints = answer.find("endpoints").value();
  for (const auto item : endpoints) {
    const auto endpoint = item.value();
    if (endpoint.find("url")->text() == url) return std::string(endpoint.find("secret")->text());
  }
  return {};
}

std::size_t Control::effects(std::string_view kind) const {
  const auto answer = client_.request("GET", "/ledger").json();
  const auto effects = answer.find("effects").value();
  std::size_t count = 0;
  for (const auto item : effects) {
    if (item.value().find("kind")->text() == kind) ++count;
  }
  return count;
}
