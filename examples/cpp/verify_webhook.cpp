#include <billcore/webhook.hpp>
#include <cstdint>
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
  if (event.type() == billcore::EventType::test_hook) {
    std::cout << "test.hook\n";  // only the name of a test.hook is reliable: a server reads no other field
    return 0;
  }
  const billcore::Id id = event.id();  // read before any output, because id() throws if the id is absent
  if (event.type() == billcore::EventType::order_paid) {
    if (const auto order = event.data_as<billcore::Order>()) {
      const billcore::Id order_id = order->id();
      const std::int64_t total = order->total();
      std::cout << "event " << id.text() << ": order " << order_id.text() << " is paid, " << total << " cents\n";
      return 0;
    }  // data_as() returned no order, because the event's data is not an object
  }
  std::cout << "event " << id.text() << " is " << event.name() << '\n';
} catch (const billcore::Error& error) {  // a server answers with error.detail().http_status, or 500 if it is 0
  std::cerr << error.what() << '\n';
  return 1;
}
