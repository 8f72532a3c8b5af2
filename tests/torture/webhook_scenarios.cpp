#include <array>
#include <optional>

#include "billcore/webhook.hpp"
#include "scenario.hpp"

namespace torture {
namespace {

using namespace billcore;

constexpr std::string_view secret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view other_secret = "fedcba9876543210fedcba9876543210";
constexpr std::string_view body =
    R"({"id":1,"name":"order.paid","account":7,"created_at":"2026-01-02T03:04:05Z","data":{"id":"a rather long id, for the heap",)"
    R"("total":1,"state":"paid","metadata":{"a":[1,2,3]},"custom_fields":[{}]}})";

// Runs a step while allocations fail, and once more afterwards, when the step must succeed.
class Step : public Scenario {
 public:
  explicit Step(std::function<void()> step) : step_(std::move(step)) {}
  void run() override { step_(); }
  void after(bool) override { step_(); }

 private:
  std::function<void()> step_;
};

// Runs a step with an existing verifier while allocations fail, and once more afterwards, when the step must succeed.
class WithVerifier : public Scenario {
 public:
  explicit WithVerifier(void (*step)(const Verifier&, const std::string&)) : step_(step) {}
  void prepare() override {
    const std::array<std::string_view, 2> secrets{other_secret, secret};
    verifier_.emplace(secrets);
    signature_ = webhooks::sign(body, secret);
  }
  void run() override { step_(*verifier_, signature_); }
  void after(bool) override { step_(*verifier_, signature_); }

 private:
  void (*step_)(const Verifier&, const std::string&);
  std::optional<Verifier> verifier_;
  std::string signature_;
};

void verify(const Verifier& verifier, const std::string& signature) {
  require(verifier.verify(body, signature).secret_index() == 1, "another secret");
}

void refuse(const Verifier& verifier, const std::string& signature) {
  auto wrong = signature;
  wrong[63] = wrong[63] == '0' ? '1' : '0';
  try {
    static_cast<void>(verifier.verify(body, wrong));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::signature, "another error");
    return;
  }
  throw Wrong("a wrong signature was accepted");
}

void unwrap(const Verifier& verifier, const std::string& signature) {
  const auto event = verifier.unwrap(body, signature);
  require(event.type() == EventType::order_paid, "another event");
  const auto order = event.data_as<Order>().value();
  require(order.id().text() == "a rather long id, for the heap", "another id");
  require(order.total() == 1, "another total");
  require(!event.raw().empty(), "no text");
}

void stream(const Verifier& verifier, const std::string& signature) {
  auto stream = verifier.stream();
  stream.update(body.substr(0, 50));
  stream.update(body.substr(50));
  require(stream.finish(signature) == 1, "another secret");
}

template <auto step>
std::unique_ptr<Scenario> with_verifier(const Place&) {
  return std::make_unique<WithVerifier>(step);
}

void make_verifier() {
  const std::array<std::string_view, 2> secrets{other_secret, secret};
  const Verifier verifier(secrets);
}

void sign() { require(webhooks::sign(body, secret).size() == 64, "no signature"); }

void explain() {
  const auto text = webhooks::explain(body, "0000", secret);
  require(!text.empty(), "no text");
}

void parse() {
  const auto event = webhooks::parse_unverified(body);
  require(event.account() == 7, "another account");
}

template <void (*step)()>
std::unique_ptr<Scenario> make_step(const Place&) {
  return std::make_unique<Step>(step);
}

}  // namespace

const std::vector<Entry>& webhook_scenarios() {
  static const std::vector<Entry> entries{
      {"verifier", make_step<make_verifier>, false, false},
      {"verify", with_verifier<verify>, false, false},
      {"refuse", with_verifier<refuse>, false, false},
      {"unwrap", with_verifier<unwrap>, false, false},
      {"stream", with_verifier<stream>, false, false},
      {"sign", make_step<sign>, false, false},
      {"explain", make_step<explain>, false, false},
      {"parse", make_step<parse>, false, false},
      {"first-verifier", make_step<make_verifier>, false, false, true},
      {"first-sign", make_step<sign>, false, false, true},
  };
  return entries;
}

}  // namespace torture
