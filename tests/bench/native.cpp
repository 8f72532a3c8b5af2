// The program that measures the contenders written in C and C++, one for each process: ROW names the contender, and
// native.hpp lists the names of each area. Usage: turns-native rest|pages|webhook ROW [CA_FILE]. turns.py starts the program
// and sends it commands on stdin.
#include "native.hpp"

#include <stdexcept>

namespace {

std::string area;

std::unique_ptr<turns::Row> make(std::string_view name, const turns::Server& server, int at_once) {
  const bool raw = name.starts_with("raw");
  if (area == "rest") return (raw ? rest::make_raw : rest::make_billcore)(name, server, at_once);
  if (area == "pages") return (raw ? pages::make_raw : pages::make_billcore)(name, server, at_once);
  if (area == "webhook") return webhook::make(name, server, at_once);
  throw std::runtime_error("there is no area " + area);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) area = argv[1];
  return turns::serve(argc - 1, argv + 1, &make);
}
