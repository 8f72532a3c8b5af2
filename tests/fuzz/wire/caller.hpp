// Runs the calls of one input against a peer, and checks their results.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "call/session.hpp"
#include "judge.hpp"
#include "ledger.hpp"
#include "loop.hpp"
#include "script.hpp"

namespace billcore::fuzz {

class Caller {
 public:
  /// options: the client's options; their base_url must be the URL of `peer`.
  Caller(const Plan& plan, Witness& peer, std::string nonce, ClientOptions options);
  void run();

 private:
  struct Made {
    Call call = {};
    std::vector<GivenPage> pages = {};
    std::uint64_t waited = 0;
    Loop::CallId id = 0;
  };

  void setting(char c);
  void make(char kind);
  void begin(Made& made);
  void end(Made& made);
  void list(Made& made);
  static void take(Made& made, const detail::PageData& page, std::int64_t begin);
  void list_in_loop(Made& made);
  void finish_loop();

  const Plan& plan_;
  Witness& peer_;
  const std::string nonce_;
  detail::SessionPtr session_;
  detail::SessionPtr without_retries_;
  std::size_t max_response_ = 0;
  std::chrono::milliseconds timeout_{1000};
  bool retries_ = true;
  bool interrupt_next_ = false;
  bool interrupting_ = false;
  bool in_loop_ = false;
  int asked_ = 0;
  int made_ = 0;
  std::deque<Made> calls_;
  std::deque<Made*> running_;  // calls in flight in the event loop
  std::unique_ptr<Loop> loop_;
};

/// Returns a text derived from the input, which marks answers so that each can be matched to its request.
[[nodiscard]] std::string nonce_of(std::string_view input);

}  // namespace billcore::fuzz
