#include <billcore/client.hpp>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: find REFERENCE_ID\n";
    return 2;
  }
  const billcore::Client client({});  // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
  bool found = false;
  for (const billcore::Subscription& subscription : client.subscriptions().list({.reference_id = argv[1]})) {
    std::cout << subscription.id().text() << ' ' << subscription.status() << '\n';
    found = true;
  }
  if (!found) std::cerr << "no subscription has this reference_id\n";
  return found ? 0 : 1;
} catch (const billcore::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
