// Runs each operation in C++ and C, and the same work without billcore (the operation's limit), while Callgrind
// counts instructions. Usage: cost-native FOLDER. FOLDER contains a webhook delivery that tests/bench/bodies.py
// wrote to `900`, and the peer's answers in `answers`. Prints how often each operation was performed.
#include "native.hpp"

#include <billcore.h>
#include <nanoarrow/nanoarrow.h>

#include <billcore/arrow.hpp>
#include <billcore/client.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "by_hand.hpp"
#include "delivery.hpp"
#include "evict.hpp"
#include "ffi_c.h"
#include "peer.h"
#include "sha_limit.hpp"

namespace {

constexpr std::size_t pages = 20;
constexpr std::size_t orders = pages * 100;

// Lets Callgrind count the instructions of `run`, which performs the given number of operations and returns 0 if one
// fails.
template <typename Run>
void count(const char* name, std::size_t operations, Run run) {
  bool good = run(operations) != 0;  // the first run is not counted, because it does one-time work
  cost_begin();
  good = run(operations) != 0 && good;
  cost_end(name);
  by_hand::require(good, name);
  std::printf("%s %zu\n", name, operations);
}

template <typename Call>
auto repeated(Call call) {
  return [call](std::size_t times) {
    while (times-- > 0) {
      if (!call()) return 0;
    }
    return 1;
  };
}

// Like repeated(), but with cold caches: between two calls other code runs, which is not counted.
template <typename Call>
auto repeated_cold(Call call) {
  return [call](std::size_t times) {
    static Eviction<std::size_t{64} << 10U> evict;  // twice as much as each of the caches that run.py simulates
    while (times-- > 0) {
      cost_pause();
      evict();
      cost_pause();
      if (!call()) return 0;
    }
    return 1;
  };
}

template <typename Call>
void count_warm_and_cold(const std::string& name, std::size_t times, Call call) {
  count(name.c_str(), times, repeated(call));
  const auto cold = std::string(name).insert(name.find(' '), " cold");
  count(cold.c_str(), times, repeated_cold(call));
}

void count_webhooks(const std::string& folder) {
  using namespace delivery;
  const auto one = read_delivery(folder + "/900");
  const auto& secret = one.secret;
  const ShaLimit limit(secret);
  ParseLimit parse(one.body->size());
  const billcore::Verifier verifier{std::string_view(secret)};
  billcore_verifier* c_verifier = nullptr;
  by_hand::require(billcore_verifier_new({secret.data(), secret.size()}, nullptr, &c_verifier, nullptr) == BILLCORE_OK,
                   "billcore_verifier_new");
  constexpr std::size_t times = 200;
  count_warm_and_cold("limit verify", times, [&] { return limit.verify(one.text(), one.claimed); });
  count_warm_and_cold("limit unwrap", times, [&] {
    return limit.verify(one.text(), one.claimed) &&
           parse.parse(one.text(), [](yyjson_val* root) { return read_three(root); });
  });
  count_warm_and_cold("C++ verify", times,
                      [&] { return verifier.check(one.text(), one.signature) == billcore::SignatureReason::none; });
  count_warm_and_cold("C++ unwrap", times, [&] { return read_three(verifier.unwrap(one.text(), one.signature)); });
  count("C verify", times, [&](std::size_t n) { return ffi_verify(c_verifier, one.c_body(), one.c_signature(), n); });
  count("C unwrap", times, [&](std::size_t n) { return ffi_unwrap(c_verifier, one.c_body(), one.c_signature(), n); });
  billcore_verifier_free(c_verifier);
}

// Reads a list as Arrow columns. fields: the columns to read; nullopt for all.
std::size_t take_arrow(const billcore::Client& client, const billcore::ArrowFields& fields) {
  ArrowArrayStream stream{};
  billcore::export_arrow(client.subscriptions().orders(billcore::Id(pages::list_id(pages))), &stream, fields);
  std::size_t rows = 0;
  while (true) {
    ArrowArray batch{};
    if (stream.get_next(&stream, &batch) != 0 || batch.release == nullptr) break;
    rows += static_cast<std::size_t>(batch.length);
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows == orders ? rows : 0;
}

void count_calls(const turns::Server& server) {
  constexpr std::size_t times = 50;
  const auto calls = [&](const char* name, std::unique_ptr<turns::Row> row) {
    count_warm_and_cold(name, times, [&] { return row->run(1) > 0; });
  };
  const auto first_pages = [&](const char* name, std::unique_ptr<turns::Row> row) {
    count(name, times, repeated_cold([&] { return row->run(1) > 0; }));
  };
  const auto lists = [&](const char* name, std::unique_ptr<turns::Row> row) {
    count(name, orders, [&](std::size_t) { return row->run(pages); });
  };
  calls("limit get", rest::make_raw("raw_yyjson", server, 1));
  calls("C++ get", rest::make_billcore("cpp", server, 1));
  calls("C get", rest::make_billcore("c", server, 1));
  calls("C loop get", rest::make_billcore("c_loop", server, 1));
  calls("limit charge", rest::make_raw("raw_charge", server, 1));
  calls("C++ charge", rest::make_billcore("cpp_charge", server, 1));
  lists("limit list", pages::make_raw("raw", server, 1));
  lists("C++ list", pages::make_billcore("cpp", server, 8));
  lists("C list", pages::make_billcore("c", server, 8));
  first_pages("limit cold first page", pages::make_raw("raw", server, 1));
  first_pages("C++ cold first page", pages::make_billcore("cpp", server, 1));

  billcore::ClientOptions options;
  options.base_url = server.base_url;
  options.api_key = turns::api_key;
  const billcore::Client client(options);
  count("C++ three columns", orders, [&](std::size_t) {
    return take_arrow(client, {{"id", "total_with_vat", "state"}});
  });
  count("C++ all columns", orders, [&](std::size_t) { return take_arrow(client, std::nullopt); });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    by_hand::require(argc == 2, "usage: cost-native FOLDER");
    const std::string folder = argv[1];
    const int port = cost_listen((folder + "/answers").c_str());
    count_webhooks(folder);
    count_calls({"http://127.0.0.1:" + std::to_string(port) + "/acct", ""});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cost-native: %s\n", error.what());
    return 1;
  }
  return 0;
}
