// Runs the client over libcurl, TLS and HTTP/2, against a peer that the input controls, with the checks of
// wire_fuzz.cpp. wire/script.hpp and wire/h2_peer.hpp describe the input.
#include "support.hpp"
#include "wire/caller.hpp"
#include "wire/door.hpp"
#include "wire/h2_peer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace billcore::fuzz;
  const auto input = view(data, size);
  const Plan plan(input);
  const auto nonce = nonce_of(input);
  H2Peer peer(plan.scripts, nonce);
  const Running running(peer);
  billcore::ClientOptions options;
  options.base_url = "https://127.0.0.1:" + std::to_string(door_port()) + "/acct";
  options.ca_bundle = trusted_bundle();
  options.http2 = true;
  Caller caller(plan, peer, nonce, options);
  caller.run();
  peer.end();
  return 0;
}
