// The client over libcurl and TCP, against a peer that plays the input: what each call says is held against what the peer
// received and sent. See wire/script.hpp for how an input is read, wire/judge.cpp for what must hold.
#include "support.hpp"
#include "wire/caller.hpp"
#include "wire/peer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace billcore::fuzz;
  const auto input = view(data, size);
  const Plan plan(input);
  const auto nonce = nonce_of(input);
  Peer peer(plan.scripts, nonce);
  const Running running(peer);
  billcore::ClientOptions options;
  options.base_url = "http://127.0.0.1:" + std::to_string(Peer::port()) + "/acct";
  Caller caller(plan, peer, nonce, options);
  caller.run();
  peer.end();  // before the client: then no connection is left behind in TIME_WAIT
  return 0;
}
