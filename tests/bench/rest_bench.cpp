// Runs the C and C++ contenders of the rest tables. Usage: rest-bench raw|raw_yyjson|raw_threads|cpp|c CA_FILE
#include "rest_rows.hpp"

namespace {

std::unique_ptr<turns::Row> make(std::string_view name, const turns::Server& server, int at_once) {
  return name.starts_with("raw") ? rest::make_raw(name, server, at_once) : rest::make_billcore(name, server, at_once);
}

}  // namespace

int main(int argc, char** argv) { return turns::serve(argc, argv, &make); }
