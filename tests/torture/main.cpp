// Torture: each allocation and each system call of a scenario fails in turn, each failure in its own process. Point N
// is the failure of the Nth call. For each point with a wrong result, the program prints the command that repeats only
// this failure.
//   torture [--kind memory|calls|again] [--from-there-on] [--start N] [--every N] [--point N] [--jobs N] [--list]
//           [SCENARIO…]
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "judge.hpp"

namespace torture {
namespace {

constexpr unsigned hang_seconds = 20;  // longer runs count as hung; a scenario takes milliseconds

struct Options {
  std::vector<int> kinds;
  std::vector<std::string> names;
  long start = 1;
  long every = 1;
  long jobs = 1;  // number of parallel processes
  bool once = false;
  bool keep_failing = false;
};

const char* name_of(int kind) { return kind == TORTURE_MEMORY ? "memory" : kind == TORTURE_CALLS ? "calls" : "again"; }

// Prints a line in one write(), because several processes print.
void say(const std::string& line) {
  const auto text = line + '\n';
  static_cast<void>(!write(STDOUT_FILENO, text.data(), text.size()));
}

// Returns the library that contains an address, and the function if a symbol names it, or the offset for addr2line.
std::string place(void* address) {
  const std::unique_ptr<char*, decltype(&std::free)> names(backtrace_symbols(&address, 1), &std::free);
  return names == nullptr ? "?" : *names;
}

class Runner {
 public:
  explicit Runner(const char* program)
      : program_(program),
        report_(static_cast<Report*>(
            mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

  /// Runs the scenario once for each call of a kind, making this call fail; returns true if every result was allowed.
  bool all_points(const Entry& entry, int kind, const Options& options) {
    long tried = 0;
    long wrong = 0;
    for (long number = options.start;; number += options.every) {
      const Point point{kind, number, options.keep_failing};
      const auto problem = one(entry, point);
      if (!problem.empty()) {
        ++wrong;
        show(entry, point, problem);
      }
      if (report_->run.failed == 0) break;  // no call failed: the scenario makes fewer than `number` calls
      ++tried;
      if (options.once) break;
    }
    say(std::string(entry.name) + " " + name_of(kind) + (options.keep_failing ? " from there on" : "") + ": " +
        std::to_string(tried) + " points tried, " + std::to_string(wrong) + " wrong");
    return wrong == 0;
  }

  /// Runs the scenario without failures first, so that memory which the library allocates once and keeps does not look
  /// like a leak later.
  void warm_up(const Entry& entry) {
    execute(entry, {}, server_.base_url(), *report_);
    const auto& outcome = report_->outcomes[0];
    if (!outcome.after || outcome.end != End::completed) {
      throw Wrong(std::string("it does not work: ") + report_->wrong.data() + outcome.text.data());
    }
  }

 private:
  // Runs the scenario in a child process in which the call given by `point` fails. Returns a description of the
  // problem, or an empty text.
  std::string one(const Entry& entry, const Point& point) {
    *report_ = Report{};
    server_.forget();
    const pid_t child = fork();
    if (child == 0) {
      alarm(hang_seconds);
      execute(entry, point, server_.base_url(), *report_);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (entry.writes) server_.settle();
    return judge(entry, point, *report_, status, server_);
  }

  void show(const Entry& entry, const Point& point, const std::string& problem) const {
    const auto& run = report_->run;
    const auto number = std::to_string(point.number);
    std::string text = std::string("WRONG  ").append(entry.name).append(", ").append(name_of(point.kind));
    text.append(", point ").append(number).append(" (").append(run.what).append("): ").append(problem).append("\n");
    for (int i = 2; i < std::min(run.depth, 24); ++i) text.append("    ").append(place(run.frames[i])).append("\n");
    if (report_->depth > 0) text.append("  which ended in\n");
    for (int i = 2; i < std::min(report_->depth, 16); ++i) {
      text.append("    ").append(place(report_->frames.at(static_cast<std::size_t>(i)))).append("\n");
    }
    text.append("  alone: ").append(program_).append(" --kind ").append(name_of(point.kind));
    text.append(point.keep_failing ? " --from-there-on" : "").append(" --point ").append(number).append(" ");
    say(text.append(entry.name));
  }

  const char* program_;
  Report* report_;
  Server server_;
};

// Forks a process that calls all_points(), so that no scenario depends on how an earlier scenario used the library.
pid_t begin(const char* program, const Entry& entry, int kind, const Options& options) {
  const pid_t child = fork();
  if (child != 0) return child;
  bool passed = false;
  try {
    Runner runner(program);
    if (!entry.first_use) runner.warm_up(entry);
    passed = runner.all_points(entry, kind, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", entry.name.data(), error.what());
  }
  _exit(passed ? 0 : 1);
}

bool wait_for_one() {
  int status = 0;
  return wait(&status) > 0 && status == 0;
}

// Lets programs in other languages use the server: prints the base URL, then answers each line of input. The line
// `forget` resets the counts of charges. For a line with the amount of a charge, the function waits until all
// connections are closed and prints how often that charge was received.
int serve() {
  Server server;
  std::printf("%s\n", server.base_url().c_str());
  std::fflush(stdout);
  std::array<char, 64> line{};
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) {
    if (std::string_view(line.data()) == "forget\n") {
      server.forget();
    } else {
      server.settle();
    }
    std::printf("%d\n", server.charges(std::atoi(line.data())));
    std::fflush(stdout);
  }
  return 0;
}

int usage() {
  std::fprintf(stderr,
               "torture [--kind memory|calls|again] [--from-there-on] [--start N] [--every N] [--point N] "
               "[--jobs N] [--list] [SCENARIO...]\n");
  return 2;
}

int main_with(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto number = [&] { return i + 1 < count ? std::atol(words[++i]) : 0; };
    if (word == "--serve") return serve();
    if (word == "--list") {
      for (const auto& entry : all_entries()) std::printf("%s\n", entry.name.data());
      return 0;
    }
    if (word == "--kind" && i + 1 < count) {
      const std::string_view name = words[++i];
      for (const int kind : {TORTURE_MEMORY, TORTURE_CALLS, TORTURE_AGAIN}) {
        if (name == name_of(kind)) options.kinds.push_back(kind);
      }
      if (options.kinds.empty()) return usage();
    } else if (word == "--from-there-on") {
      options.keep_failing = true;
    } else if (word == "--start") {
      options.start = number();
    } else if (word == "--every") {
      options.every = number();
    } else if (word == "--jobs") {
      options.jobs = number();
    } else if (word == "--point") {
      options.start = number();
      options.once = true;
    } else if (word.starts_with("-")) {
      return usage();
    } else {
      options.names.emplace_back(word);
    }
  }
  if (options.start < 1 || options.every < 1 || options.jobs < 1) return usage();
  if (options.kinds.empty()) options.kinds = {TORTURE_MEMORY, TORTURE_CALLS, TORTURE_AGAIN};

  bool passed = true;
  long begun = 0;
  long matching = 0;
  for (const auto& entry : all_entries()) {
    const auto& names = options.names;
    if (!names.empty() && std::find(names.begin(), names.end(), entry.name) == names.end()) continue;
    ++matching;
    for (const int kind : options.kinds) {
      if (kind != TORTURE_MEMORY && !entry.network) continue;
      // An event loop whose epoll_wait() always fails cannot end a call.
      if (kind == TORTURE_CALLS && options.keep_failing && entry.name.starts_with("loop-")) continue;
      // If every system call is interrupted or not ready, an API call ends only at its deadline.
      if (kind == TORTURE_AGAIN && options.keep_failing) continue;
      if (begun >= options.jobs) passed = wait_for_one() && passed;
      if (begin(words[0], entry, kind, options) > 0) ++begun;
    }
  }
  for (long left = std::min(begun, options.jobs); left > 0; --left) passed = wait_for_one() && passed;
  if (matching == 0) return usage();
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace torture

int main(int count, char** words) { return torture::main_with(count, words); }
