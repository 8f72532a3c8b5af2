// Charges a subscription many times at once, in an event loop, and prints what it knows: see
// tests/faults/test_killed.py.
#pragma once

#include <poll.h>

#include <iostream>
#include <span>
#include <string>

#include "billcore/async_client.hpp"

namespace billcore::test {

inline const char* known(Completed& completed) {
  try {
    static_cast<void>(completed.resource());
    return "made";
  } catch (const Error& error) {
    return error.detail().outcome_unknown ? "unknown" : "not-made";
  }
}

inline int run_charges(std::span<char*> argv) {
  ClientOptions options;
  options.base_url = argv[0];
  options.api_key = argv[1];
  AsyncClient client{Client(options)};
  const int count = std::stoi(argv[4]);
  for (int number = 0; number < count; ++number) {
    std::cout << "begin " << number << std::endl;
    const Charge charge{.product_id = std::stoll(argv[3]), .amount = 1000 + number};
    static_cast<void>(
        client.start(operations::subscriptions::charge(Id(argv[2]), charge), {},
                     [number](Completed& end) { std::cout << "end " << number << ' ' << known(end) << std::endl; }));
  }
  pollfd ready{client.descriptor(), POLLIN, 0};
  while (client.running() > 0) {
    poll(&ready, 1, -1);
    client.process();
  }
  return 0;
}

}  // namespace billcore::test
