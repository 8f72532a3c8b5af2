// Runs the client over libcurl and TCP, against a peer that the input controls, and compares the result of each call
// with what the peer received and sent. wire/script.hpp describes the input; wire/judge.cpp has the rules.
#include "support.hpp"
#include "wire/caller.hpp"
#include "wire/door.hpp"
#include "wire/h1_peer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace billcore::fuzz;
  const auto input = view(data, size);
  const Plan plan(input);
  const auto nonce = nonce_of(input);
  H1Peer peer(plan.scripts, nonce);
  const Running running(peer);
  billcore::ClientOptions options;
  options.base_url = "http://127.0.0.1:" + std::to_string(door_port()) + "/acct";
  Caller caller(plan, peer, nonce, options);
  caller.run();
  peer.end();  // the peer resets all connections before the client closes them, so that none is left in TIME_WAIT
  return 0;
}
