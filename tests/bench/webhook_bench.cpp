// Runs the C and C++ contenders of the webhook tables with google-benchmark. Usage: webhook-bench FOLDER
// [--benchmark_…]. FOLDER has for each size the files SIZE.body and SIZE.signature, and a file `secret`. A benchmark's
// name is table/row/size.
#include <benchmark/benchmark.h>
#include <billcore.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <billcore/webhook.hpp>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "delivery.hpp"
#include "sha_limit.hpp"

namespace {

using namespace delivery;

template <typename Call>
bool accepts(Call&& call) {
  try {
    return call();
  } catch (const billcore::Error&) {
    return false;
  }
}

bool one_shot_hmac(std::string_view secret, const Delivery& delivery) {
  Digest digest;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(delivery.body->data()), delivery.body->size(), digest.data(), nullptr);
  return CRYPTO_memcmp(digest.data(), delivery.claimed.data(), digest.size()) == 0;
}

using Check = std::function<bool(const Delivery&)>;

// Adds a contender, which must accept a right signature and refuse a wrong signature: otherwise its time would be
// meaningless.
template <typename Row>
void add_row(const std::string& name, const Delivery& good, Row row) {
  benchmark::RegisterBenchmark(name.c_str(), [name, &good, row](benchmark::State& state) {
    Delivery bad = make_delivery(*good.body, good.signature);
    bad.signature.back() = bad.signature.back() == '0' ? '1' : '0';
    bad.claimed.back() ^= 1U;
    if (!row(good) || row(bad)) throw std::runtime_error(name + " does not tell a right signature from a wrong one");
    for (auto _ : state) {
      bool matched = row(good);
      benchmark::DoNotOptimize(matched);
    }
  });
}

struct Parties {
  std::string secret;
  ShaLimit limit{secret};
  billcore::Verifier verifier{std::string_view(secret), {.max_body = std::size_t{1} << 25}};  // allows bodies of 16 MiB
  std::unique_ptr<billcore_verifier, void (*)(billcore_verifier*)> c_verifier{nullptr, billcore_verifier_free};

  explicit Parties(std::string text) : secret(std::move(text)) {
    const billcore_str only = c_secret();
    billcore_verifier* made = nullptr;
    if (billcore_verifier_new(only, nullptr, &made, nullptr) != BILLCORE_OK) {
      throw std::runtime_error("billcore_verifier_new failed");
    }
    c_verifier.reset(made);
  }
  [[nodiscard]] billcore_str c_secret() const { return {secret.data(), secret.size()}; }
};

void add_verify_rows(const Parties& all, const Delivery& delivery, const std::string& size) {
  const auto add = [&](const std::string& row, auto call) { add_row("verify/" + row + "/" + size, delivery, call); };
  add("limit", [&all](const Delivery& one) { return all.limit.verify(one.text(), one.claimed); });
  add("HMAC", [&all](const Delivery& one) { return one_shot_hmac(all.secret, one); });
  add("check", [&all](const Delivery& one) {
    return all.verifier.check(one.text(), one.signature) == billcore::SignatureReason::none;
  });
  add("stream", [&all](const Delivery& one) {
    return accepts([&] {
      auto stream = all.verifier.stream();
      stream.update(one.text());
      return stream.finish(one.signature) == 0;
    });
  });
  add("c", [&all](const Delivery& one) {
    return billcore_verifier_verify(all.c_verifier.get(), one.c_body(), one.c_signature(), nullptr, nullptr) ==
           BILLCORE_OK;
  });
  add("c_one_shot", [&all](const Delivery& one) {
    return billcore_webhook_verify(one.c_body(), one.c_signature(), all.c_secret(), nullptr) == BILLCORE_OK;
  });
}

void add_unwrap_rows(const Parties& all, const Delivery& delivery, const std::string& size) {
  const auto add = [&](const std::string& row, auto call) { add_row("unwrap/" + row + "/" + size, delivery, call); };
  const auto pool = std::make_shared<ParseLimit>(delivery.body->size());
  add("limit", [&all, pool](const Delivery& one) {
    return all.limit.verify(one.text(), one.claimed) &&
           pool->parse(one.text(), [](yyjson_val* root) { return root != nullptr; });
  });
  add("limit_read", [&all, pool](const Delivery& one) {
    return all.limit.verify(one.text(), one.claimed) &&
           pool->parse(one.text(), [](yyjson_val* root) { return read_three(root); });
  });
  add("shared", [&all](const Delivery& one) {
    return accepts([&] { return !all.verifier.unwrap_shared({one.text(), one.body}, one.signature).raw().empty(); });
  });
  add("shared_read", [&all](const Delivery& one) {
    return accepts([&] { return read_three(all.verifier.unwrap_shared({one.text(), one.body}, one.signature)); });
  });
  add("copy", [&all](const Delivery& one) {
    return accepts([&] { return !all.verifier.unwrap(one.text(), one.signature).raw().empty(); });
  });
  add("copy_read", [&all](const Delivery& one) {
    return accepts([&] { return read_three(all.verifier.unwrap(one.text(), one.signature)); });
  });
  add("c", [&all](const Delivery& one) {
    billcore_event* event = nullptr;
    const auto status =
        billcore_verifier_unwrap(all.c_verifier.get(), one.c_body(), one.c_signature(), &event, nullptr);
    billcore_event_free(event);
    return status == BILLCORE_OK;
  });
}

// Adds an idle second thread, because a webhook receiver has several threads. In a process with only one thread, the
// C and C++ run-time libraries skip atomic operations and are therefore faster.
class OtherThread {
 public:
  ~OtherThread() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_{[this] {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_; });
  }};
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw std::runtime_error("usage: webhook-bench FOLDER [--benchmark_…]");
    const std::string folder = argv[1];
    argv[1] = argv[0];
    --argc;
    ++argv;
    const OtherThread other;
    const Parties all(read_file(folder + "/secret"));
    std::vector<std::unique_ptr<Delivery>> deliveries;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".body") continue;
      const auto size = file.path().stem().string();
      const std::string stem = folder + "/" + size;
      deliveries.push_back(
          std::make_unique<Delivery>(make_delivery(read_file(stem + ".body"), read_file(stem + ".signature"))));
      add_verify_rows(all, *deliveries.back(), size);
      add_unwrap_rows(all, *deliveries.back(), size);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "webhook-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
