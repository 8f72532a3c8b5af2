#include "turns.hpp"

#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace turns {
namespace {

long long nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

std::string answer(Row& row, const std::string& verb, std::istringstream& more) {
  if (verb == "show") return row.show();
  std::size_t number = 0;
  std::size_t warm = 0;
  more >> number >> warm;
  if (verb == "run") static_cast<void>(row.run(warm));
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

void Row::run_late(std::chrono::milliseconds /*timeout*/) { throw std::runtime_error("there is no such row"); }

int serve(int argc, char** argv, Make* make) {
  try {
    if (argc != 2 && argc != 3) throw std::runtime_error("wants ROW [CA_FILE]");
    std::map<std::pair<std::string, int>, std::unique_ptr<Row>> rows;
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string verb;
      Server server{"", argc == 3 ? argv[2] : ""};
      int at_once = 0;
      words >> verb >> server.base_url >> at_once;
      auto& row = rows[{server.base_url, at_once}];
      if (!row) row = make(argv[1], server, at_once);
      std::cout << answer(*row, verb, words) << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace turns
