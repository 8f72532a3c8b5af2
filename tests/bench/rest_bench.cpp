// The C and C++ rows of the rest tables, run in turns with the others: rest-bench ROW CA_FILE
// Speaks the protocol of rest_turns.py on stdin and stdout.
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "rest_rows.hpp"

namespace {

long long nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::string answer(rest::Row& row, const std::string& verb, std::istringstream& more, std::size_t at_once) {
  if (verb == "show") return row.show();
  std::size_t number = 0;
  more >> number;
  if (verb == "run")
    static_cast<void>(row.run(at_once));  // connections that were idle for long may have to be made anew
  const auto wall = nanoseconds(CLOCK_MONOTONIC);
  const auto cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  std::size_t total = 0;
  if (verb == "run") {
    total = row.run(number);
  } else if (verb == "late") {
    row.run_late(std::chrono::milliseconds(number));
  } else {
    throw std::runtime_error("unknown verb " + verb);
  }
  std::ostringstream out;
  out << nanoseconds(CLOCK_MONOTONIC) - wall << ' ' << nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu << ' ' << total;
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("usage: rest-bench raw|raw_yyjson|cpp|c CA_FILE");
    const std::string name = argv[1];
    std::map<std::pair<std::string, int>, std::unique_ptr<rest::Row>> rows;
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string verb;
      rest::Server server{"", argv[2]};
      int at_once = 0;
      words >> verb >> server.base_url >> at_once;
      auto& row = rows[{server.base_url, at_once}];
      if (!row) {
        row = name.starts_with("raw") ? rest::make_raw(name, server, at_once)
                                      : rest::make_billcore(name, server, at_once);
      }
      std::cout << answer(*row, verb, words, static_cast<std::size_t>(at_once)) << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "rest-bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
