#include "turns.hpp"

#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "evict.hpp"

namespace turns {
namespace {

long long nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

struct Turn {
  long long wall = 0;  // nanoseconds
  long long cpu = 0;
  std::size_t read = 0;

  template <typename Run>
  void add(Run run) {
    // Reading the processor time is a system call, so the wall time begins after it and ends before the next one.
    const auto cpu_before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    const auto wall_before = nanoseconds(CLOCK_MONOTONIC);
    read += run();
    wall += nanoseconds(CLOCK_MONOTONIC) - wall_before;
    cpu += nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_before;
  }
};

// Fills the caches of the processor's core before each operation, as a program does that rarely calls billcore.
void run_cold(Row& row, std::size_t count, Turn& turn) {
  static const auto evict = std::make_unique<Eviction<std::size_t{4} << 20U>>();
  while (count-- > 0) {
    (*evict)();
    turn.add([&] { return row.run(1); });
  }
}

std::string answer(Row& row, const std::string& verb, std::istringstream& more) {
  if (verb == "show") return row.show();
  std::size_t number = 0;
  std::size_t warm = 0;
  more >> number >> warm;
  Turn turn;
  if (verb == "run") {
    static_cast<void>(row.run(warm));
    turn.add([&] { return row.run(number); });
  } else if (verb == "cold") {
    run_cold(row, number, turn);
  } else if (verb == "late") {
    turn.add([&] {
      row.run_late(std::chrono::milliseconds(number));
      return std::size_t{0};
    });
  } else {
    throw std::runtime_error("unknown verb " + verb);
  }
  std::ostringstream out;
  out << turn.wall << ' ' << turn.cpu << ' ' << turn.read;
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
