// The releases of the libraries that ours are linked to.
#pragma once

#include <string>
#include <vector>

namespace billcore::detail {

struct LinkedLibrary {
  std::string name;  // in lowercase
  std::string version;
};

// Any thread. Each is in the file that uses the library.
[[nodiscard]] LinkedLibrary linked_crypto();
[[nodiscard]] LinkedLibrary linked_json();
/// libcurl, and what it uses for TLS and HTTP/2.
[[nodiscard]] std::vector<LinkedLibrary> linked_http();
/// Only in billcore::arrow.
[[nodiscard]] LinkedLibrary linked_arrow();

}  // namespace billcore::detail
