#include <billcore/client.hpp>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: charge SUBSCRIPTION PRODUCT CENTS_WITHOUT_VAT\n";
    return 2;
  }
  const billcore::Client client({});  // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
  const billcore::Charge what{.product_id = std::atoll(argv[2]), .amount = std::atoll(argv[3])};
  try {
    const billcore::Order order = client.subscriptions().charge(argv[1], what);
    std::cout << "charged " << order.total() << " cents, " << order.total_with_vat() << " with VAT\n";
  } catch (const billcore::Error& error) {
    if (!error.detail().outcome_unknown) throw;
    // The charge may have been made: check the orders before you charge again.
    std::cerr << error.what() << "; ";
    std::cerr << client.subscriptions().find_charges(error).size() << " orders were made since then\n";
    return 1;
  }
} catch (const billcore::Error& error) {  // error.code() is payment if the service refused the charge
  std::cerr << error.what() << '\n';
  return 1;
}
