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
    static Eviction evict;
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

// Sends the request that billcore sends for a charge, but uses only libcurl.
class ChargeByHand {
 public:
  explicit ChargeByHand(const turns::Server& server) : handle_(server) {
    for (const auto& header : {"X-API-KEY: " + std::string(turns::api_key), std::string("Accept: application/json"),
                               std::string("Content-Type: application/json"), std::string("Expect:")}) {
      headers_ = curl_slist_append(headers_, header.c_str());
    }
    handle_.set_url(server.base_url + "/subscription/sub_1001/order");
    curl_easy_setopt(handle_.easy(), CURLOPT_HTTPHEADER, headers_);
  }
  ~ChargeByHand() { curl_slist_free_all(headers_); }
  ChargeByHand(const ChargeByHand&) = delete;
  ChargeByHand& operator=(const ChargeByHand&) = delete;

  bool charge() {
    yyjson_mut_doc* document = yyjson_mut_doc_new(nullptr);
    yyjson_mut_val* root = yyjson_mut_obj(document);
    yyjson_mut_doc_set_root(document, root);
    yyjson_mut_obj_add_sint(document, root, "product_id", 102);
    yyjson_mut_obj_add_sint(document, root, "amount", 1500);
    std::size_t length = 0;
    const std::unique_ptr<char, void (*)(void*)> text(yyjson_mut_write(document, 0, &length), std::free);
    yyjson_mut_doc_free(document);
    curl_easy_setopt(handle_.easy(), CURLOPT_POSTFIELDSIZE, static_cast<long>(length));
    curl_easy_setopt(handle_.easy(), CURLOPT_POSTFIELDS, text.get());
    handle_.perform();
    const auto answer = by_hand::parse(handle_.body());
    yyjson_val* data = yyjson_obj_get(yyjson_doc_get_root(answer.get()), "data");
    return by_hand::number(data, "total") > 0 && !by_hand::text(data, "id").empty() &&
           !by_hand::text(data, "state").empty();
  }

 private:
  by_hand::Handle handle_;
  curl_slist* headers_ = nullptr;
};

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
  const auto gets = [&](const char* name, std::unique_ptr<turns::Row> row) {
    count_warm_and_cold(name, times, [&] { return row->run(1) > 0; });
  };
  const auto first_pages = [&](const char* name, std::unique_ptr<turns::Row> row) {
    count(name, times, repeated_cold([&] { return row->run(1) > 0; }));
  };
  const auto lists = [&](const char* name, std::unique_ptr<turns::Row> row) {
    count(name, orders, [&](std::size_t) { return row->run(pages); });
  };
  gets("limit get", rest::make_raw("raw_yyjson", server, 1));
  gets("C++ get", rest::make_billcore("cpp", server, 1));
  gets("C get", rest::make_billcore("c", server, 1));
  gets("C loop get", rest::make_billcore("c_loop", server, 1));
  lists("limit list", pages::make_raw("raw", server, 1));
  lists("C++ list", pages::make_billcore("cpp", server, 8));
  lists("C list", pages::make_billcore("c", server, 8));
  first_pages("limit cold first page", pages::make_raw("raw", server, 1));
  first_pages("C++ cold first page", pages::make_billcore("cpp", server, 1));

  ChargeByHand by_hand(server);
  count_warm_and_cold("limit charge", times, [&] { return by_hand.charge(); });
  billcore::ClientOptions options;
  options.base_url = server.base_url;
  options.api_key = turns::api_key;
  const billcore::Client client(options);
  count_warm_and_cold("C++ charge", times, [&] {
    billcore::Charge what;
    what.product_id = 102;
    what.amount = 1500;
    const auto order = client.subscriptions().charge("sub_1001", what);
    return order.total() > 0 && !order.id().text().empty() && !order.state().empty();
  });
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
