// The contenders of the ffi tables that are written in C and C++. In place of a URL a command has OPERATION:FOLDER; FOLDER
// contains the files of a delivery, in the format of webhook-bench.
#include <billcore/webhook.hpp>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "ffi_c.h"
#include "native.hpp"

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Delivery {
  explicit Delivery(const std::string& folder)
      : body(read_file(folder + "/900.body")),
        signature(read_file(folder + "/900.signature")),
        secret(read_file(folder + "/secret")) {}
  std::string body;
  std::string signature;
  std::string secret;
};

std::size_t require(std::size_t sum) {
  if (sum == 0) throw std::runtime_error("an operation failed");
  return sum;
}

class Row : public turns::Row {
 public:
  Row(std::string operation, const std::string& folder) : operation_(std::move(operation)), given_(folder) {}
  std::size_t run(std::size_t count) override {
    if (count == 0) return 0;
    if (operation_ == "call") return require(call(count));
    if (operation_ == "verify") return require(verify(count));
    if (operation_ == "unwrap") return require(unwrap(count));
    throw std::runtime_error("there is no such operation");
  }
  std::string show() override { return std::to_string(run(1)); }

 protected:
  [[nodiscard]] const Delivery& given() const { return given_; }

 private:
  virtual std::size_t call(std::size_t count) = 0;
  virtual std::size_t verify(std::size_t count) = 0;
  virtual std::size_t unwrap(std::size_t count) = 0;

  std::string operation_;
  Delivery given_;
};

class Cpp final : public Row {
 public:
  using Row::Row;

 private:
  std::size_t call(std::size_t count) override {
    const billcore::Id one("480001");
    const billcore::Id other("480001");
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += billcore::same_id(one, other) ? 1U : 0U;
    return sum;
  }
  std::size_t verify(std::size_t count) override {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (verifier_.check(given().body, given().signature) != billcore::SignatureReason::none) return 0;
      sum += given().body.size();
    }
    return sum;
  }
  std::size_t unwrap(std::size_t count) override {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto event = verifier_.unwrap(given().body, given().signature);
      const auto subscription = event.data_as<billcore::Subscription>();
      sum += event.id().text().size() + event.name().size() + subscription.value().status().size();
    }
    return sum;
  }

  billcore::Verifier verifier_{std::string_view(given().secret)};
};

class C final : public Row {
 public:
  C(std::string operation, const std::string& folder) : Row(std::move(operation), folder) {
    if (billcore_verifier_new(view(given().secret), nullptr, &verifier_, nullptr) != BILLCORE_OK) {
      throw std::runtime_error("billcore_verifier_new failed");
    }
  }
  C(const C&) = delete;
  C& operator=(const C&) = delete;
  ~C() override { billcore_verifier_free(verifier_); }

 private:
  static billcore_str view(const std::string& text) { return {text.data(), text.size()}; }
  std::size_t call(std::size_t count) override { return ffi_call(count); }
  std::size_t verify(std::size_t count) override {
    return ffi_verify(verifier_, view(given().body), view(given().signature), count);
  }
  std::size_t unwrap(std::size_t count) override {
    return ffi_unwrap(verifier_, view(given().body), view(given().signature), count);
  }

  billcore_verifier* verifier_ = nullptr;
};

}  // namespace

std::unique_ptr<turns::Row> ffi::make(std::string_view name, const turns::Server& server, int /*at_once*/) {
  const auto colon = server.base_url.find(':');
  const auto operation = server.base_url.substr(0, colon);
  const auto folder = server.base_url.substr(colon + 1);
  if (name == "cpp") return std::make_unique<Cpp>(operation, folder);
  if (name == "c") return std::make_unique<C>(operation, folder);
  throw std::runtime_error("there is no such row");
}
