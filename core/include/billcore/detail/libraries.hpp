// Names and versions of the third-party libraries that billcore is linked to.
#pragma once

#include <string>
#include <vector>

namespace billcore::detail {

struct LinkedLibrary {
  std::string name;  // in lowercase
  std::string version;
};

// Threads: any. Each function is defined in a file that uses the library whose version the function returns.
[[nodiscard]] LinkedLibrary linked_crypto();
[[nodiscard]] LinkedLibrary linked_json();
/// libcurl and the libraries that it uses for TLS and HTTP/2.
[[nodiscard]] std::vector<LinkedLibrary> linked_http();
[[nodiscard]] LinkedLibrary linked_compression();
/// Only programs that link the target billcore::arrow can call this function.
[[nodiscard]] LinkedLibrary linked_arrow();

}  // namespace billcore::detail
