// The client over libcurl and TCP, against a peer that plays the input: what each call says is held against what the peer
// received and sent. See wire/script.hpp for how an input is read, wire/judge.cpp for what must hold.
#include <memory>

#include "billcore/pager.hpp"
#include "list_source.hpp"
#include "pager_core.hpp"
#include "session.hpp"
#include "support.hpp"
#include "wire/clock.hpp"
#include "wire/judge.hpp"
#include "wire/peer.hpp"
#include "wire/script.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;
using std::chrono::milliseconds;

constexpr int most_pages = 6;
constexpr int most_calls = 8;

std::string nonce_of(std::string_view input) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : input) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

/// Runs the calls of one input.
class Caller {
 public:
  Caller(const Plan& plan, Peer& peer, std::string nonce) : plan_(plan), peer_(peer), nonce_(std::move(nonce)) {
    ClientOptions options;
    options.base_url = "http://127.0.0.1:" + std::to_string(Peer::port()) + "/acct";
    options.api_key = peer_key;
    options.timeout = milliseconds(1000);
    options.concurrency = 3;
    if (plan.calls.find('s') != std::string::npos) options.max_response = 512;
    options.interrupt = [this] { return interrupting_ && ++asked_ > 1; };
    max_response_ = options.max_response;
    detail::RetrySources sources;
    sources.chance = [] { return 0.5; };
    session_ = std::make_shared<detail::Session>(options, sources);
    ClientChanges once;
    once.max_retries = 0;
    without_retries_ = std::make_shared<detail::Session>(*session_, once);
  }

  void run() {
    for (const char c : plan_.calls) {
      if (c >= '0' && c <= '7') {
        timeout_ = milliseconds(25 << (c - '0'));
      } else if (c == 'r') {
        retries_ = !retries_;
      } else if (c == 'i') {
        interrupt_next_ = true;
      } else if (c == 'm') {
        peer_.move();
      } else if (c == 'p' || c == 'P') {
        pass(c == 'p' ? 1'000'000 : 60'000'000);
        peer_.move();
      } else if (std::string_view("gcxudwlqQ").find(c) != std::string_view::npos && made_ < most_calls) {
        make(c);
      }
    }
    peer_.move();  // what left last is received, too
    for (const auto& each : calls_) judge(each.call, peer_, nonce_, each.pages);
    judge_connections(peer_);
  }

 private:
  struct Made {
    Call call;
    std::vector<GivenPage> pages;
  };

  void make(char kind) {
    auto& made = calls_.emplace_back();
    auto& call = made.call;
    call.number = ++made_;
    call.kind = kind;
    call.write = std::string_view("cxudwQ").find(kind) != std::string_view::npos;
    call.max_retries = retries_ ? 2 : 0;
    call.max_response = max_response_;
    call.timeout = std::chrono::microseconds(timeout_).count();
    interrupting_ = std::exchange(interrupt_next_, false);
    asked_ = 0;
    const auto waited = waits();
    call.begin = clock_micros();
    try {
      send(made);
    } catch (const Error& error) {
      call.error = error;
    } catch (const std::bad_alloc&) {
      require(false, "memory does not run out");
    }
    call.end = clock_micros();
    call.waits = waits() - waited;
    call.told_to_end = interrupting_ && asked_ > 1;
    interrupting_ = false;
  }

  void send(Made& made) {
    auto& call = made.call;
    const auto& session = retries_ ? session_ : without_retries_;
    CallOptions options;
    options.timeout = timeout_;
    const auto id = "call-" + std::to_string(call.number);
    const std::int64_t product = 900 + call.number;
    const auto resource = [&](const Operation& operation) { give(call, session->resource(operation, options)); };
    const auto response = [&](const Operation& operation, bool raise) {
      give(call, session->response(operation, raise, options));
    };
    RequestOptions request;
    switch (call.kind) {
      case 'g':
        return resource(operations::get_subscription(id));
      case 'c':
        return resource(operations::charge_subscription(id, {42, 1500, {}, {}, {}}));
      case 'x':
        return resource(operations::cancel_subscription(id));
      case 'u': {
        JsonObject fields;
        fields.set("price", std::int64_t{1});
        return resource(operations::update_product(product, fields));
      }
      case 'd':
        return response(operations::delete_product(product), true);
      case 'w':
        return response(operations::create_webhook_endpoint("https://hooks.example/" + id), true);
      case 'q':
        return response(operations::request("GET", "/other/" + id, request), false);
      case 'Q':
        request.json = "[1]";
        return response(operations::request("POST", "/other/" + id, request), false);
      default:
        return list(made, session, options);
    }
  }

  static void give(Call& call, const Value& value) {
    call.result = value.raw();
    give_headers(call, *value.document()->info());
  }
  static void give(Call& call, const Response& response) {
    call.status = response.status();
    call.result = response.body();
    give_headers(call, *response.response_info());
  }
  static void give_headers(Call& call, const ResponseInfo& info) {
    call.status = info.status();
    for (const auto& [name, value] : info.headers()) {
      require(value.find(peer_key) == std::string::npos, "no header shows the key");
      call.result.append("\n").append(name).append(":").append(value);
    }
  }

  void list(Made& made, const detail::SessionPtr& session, const CallOptions& options) {
    auto& call = made.call;
    const auto operation = operations::list_orders(Id("call-" + std::to_string(call.number)), {});
    auto source = std::make_unique<detail::ListSource>(session, operation, options);
    detail::PagerOptions settings;
    settings.concurrency = 3;
    settings.path = operation.path;
    detail::PagerCore core(std::move(source), settings);
    // A page may be read again where the list moved; each has a time-out of its own.
    for (int i = 0; i < most_pages; ++i) {
      const auto begin = clock_micros();
      const auto page = core.next_page();
      require(clock_micros() - begin <= 4 * (call.timeout + 100'000), "a page of a list ends by its deadline");
      if (!page) {
        require(core.verdict().has_value(), "a list that was read has a verdict");
        return;
      }
      made.pages.push_back({page->pagination.current_page(), std::string(page->document->text())});
    }
    core.stop();
  }

  const Plan& plan_;
  Peer& peer_;
  const std::string nonce_;
  detail::SessionPtr session_;
  detail::SessionPtr without_retries_;
  std::size_t max_response_ = 0;
  milliseconds timeout_{1000};
  bool retries_ = true;
  bool interrupt_next_ = false;
  bool interrupting_ = false;
  int asked_ = 0;
  int made_ = 0;
  std::vector<Made> calls_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = view(data, size);
  const Plan plan(input);
  const auto nonce = nonce_of(input);
  Peer peer(plan.scripts, nonce);
  const Running running(peer);
  Caller caller(plan, peer, nonce);
  caller.run();
  peer.end();  // before the client: then no connection is left behind in TIME_WAIT
  return 0;
}
