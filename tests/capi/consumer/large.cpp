#include <billcore/client.hpp>
#include <billcore/error.hpp>

int main() {
  try {
    billcore::ClientOptions options;
    options.base_url = "no url";
    const billcore::Client client(options);
  } catch (const billcore::Error& error) {
    return error.code() == billcore::ErrorCode::config ? 0 : 1;
  }
  return 1;
}
