// Runs the C and C++ contenders of the pages tables. Usage: pages-bench raw|cpp|cpp_pages|cpp_items|c
#include "pages_rows.hpp"

namespace {

std::unique_ptr<turns::Row> make(std::string_view name, const turns::Server& server, int at_once) {
  return name == "raw" ? pages::make_raw(name, server, at_once) : pages::make_billcore(name, server, at_once);
}

}  // namespace

int main(int argc, char** argv) { return turns::serve(argc, argv, &make); }
