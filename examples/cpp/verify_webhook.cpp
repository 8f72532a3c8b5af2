#include <billcore/webhook.hpp>
#include <cstdlib>
#include <iostream>
#include <iterator>

int main(int argc, char** argv) try {
  const char* secret = std::getenv("WEBHOOK_SECRET");
  if (argc != 2 || secret == nullptr) return 2;  // verify_webhook SIGNATURE < body
  const std::string body(std::istreambuf_iterator<char>(std::cin), {});
  const billcore::Event event = billcore::webhooks::unwrap(body, argv[1], secret);
  std::cout << "event " << event.id().text() << " is " << event.name() << '\n';
} catch (const billcore::Error& error) {  // detail().http_status is what to answer with
  std::cerr << error.what() << '\n';
  return 1;
}
