#include <billcore/webhook.hpp>
#include <cstdlib>
#include <iostream>
#include <iterator>

int main(int argc, char** argv) try {
  const char* secret = std::getenv("WEBHOOK_SECRET");
  if (argc != 2 || secret == nullptr) {
    std::cerr << "usage: verify_webhook SIGNATURE < BODY, with WEBHOOK_SECRET set\n";
    return 2;
  }
  const std::string body(std::istreambuf_iterator<char>(std::cin), {});
  const billcore::Event event = billcore::webhooks::unwrap(body, argv[1], secret);
  switch (event.type()) {
    case billcore::EventType::test_hook:  // only the name is reliable: answer 200, read nothing else
      std::cout << "test.hook\n";
      break;
    case billcore::EventType::order_paid:
      if (const auto order = event.data_as<billcore::Order>()) {
        std::cout << "event " << event.id().text() << ": order " << order->id().text() << " is paid, " << order->total()
                  << " cents\n";
        break;
      }
      [[fallthrough]];  // its data is not an object
    default:
      std::cout << "event " << event.id().text() << " is " << event.name() << '\n';
  }
} catch (const billcore::Error& error) {  // answer with detail().http_status
  std::cerr << error.what() << '\n';
  return 1;
}
