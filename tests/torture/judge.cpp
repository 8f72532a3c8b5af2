#include "judge.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <new>
#include <thread>

#include "billcore/error.hpp"

namespace torture {
namespace {

using billcore::Error;
using billcore::ErrorCode;

constexpr int caller = 2;  // index in torture_run::frames of the function that made the failing call
Report* reported;          // where the signal handler stores the stack

void note_place(int number) {
  reported->depth = backtrace(reported->frames.data(), TORTURE_FRAMES);
  signal(number, SIG_DFL);
  raise(number);
}

template <std::size_t size>
void copy(std::array<char, size>& to, const char* text) {
  std::strncpy(to.data(), text, size - 1);
}

void take(Outcome& outcome, const Error& error) {
  outcome.end = End::error;
  outcome.code = static_cast<int>(error.code());
  outcome.cause = static_cast<int>(error.detail().cause);
  outcome.unknown = error.detail().outcome_unknown;
  outcome.dated = error.detail().attempted_at.has_value();
  copy(outcome.text, error.what());
}

bool is(int code, ErrorCode expected) { return code == static_cast<int>(expected); }

bool tells_of_memory(const Outcome& outcome) {
  if (outcome.end == End::no_memory) return true;
  if (outcome.end != End::error) return false;
  return is(outcome.code, ErrorCode::out_of_memory) ||
         (is(outcome.code, ErrorCode::outcome_unknown) && is(outcome.cause, ErrorCode::out_of_memory));
}

// Whether the text is one of two misleading errors, which libcurl gives if memory runs out while it copies a numeric
// address or a parsed URL. In both places libcurl has sent nothing yet.
bool is_word_of_libcurl(const std::string& text) {
  return text.find("(Could not resolve host: 127.0.0.1)") != std::string::npos ||
         text.find("(No URL set)") != std::string::npos;
}

void run_once(Scenario& scenario, torture_run& run, Report& report, Outcome& outcome) {
  torture_begin(&run);
  try {
    scenario.run();
    torture_end();
    outcome.end = End::completed;
  } catch (const std::bad_alloc&) {
    torture_end();
    outcome.end = End::no_memory;
  } catch (const Error& error) {
    torture_end();
    take(outcome, error);
  } catch (const Wrong& wrong) {
    torture_end();
    outcome.end = End::other;
    copy(report.wrong, wrong.what());
  } catch (const std::exception& other) {
    torture_end();
    outcome.end = End::other;
    copy(outcome.text, other.what());
  }
}

// libcurl's thread for a look-up frees what it has after the call has ended. (With a memory failure, libcurl looks up a
// numeric address too.)
void wait_for_other_threads() {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  for (int turn = 0; turn < 10'000 && threads() > 1; ++turn) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::string of_outcome(const Entry& entry, const Point& point, const Outcome& outcome) {
  const std::string text = outcome.text.data();
  switch (outcome.end) {
    case End::none:
      return "it did not end";
    case End::other:
      return "it threw something else: " + text;
    case End::completed:
      return {};
    case End::no_memory:
      return point.kind == TORTURE_MEMORY ? "" : "it says that memory ran out";
    case End::error:
      break;
  }
  if (point.kind == TORTURE_AGAIN) return "an interrupted system call failed it: " + text;
  if (point.kind == TORTURE_MEMORY && !tells_of_memory(outcome) && !is_word_of_libcurl(text))
    return "it does not say that memory ran out: " + text;
  if (outcome.unknown && !entry.writes && text.starts_with("GET "))
    return "a read says that it may have been done: " + text;
  // Where nothing more can be allocated, an error has no details.
  if (outcome.unknown && !outcome.dated && !point.keep_failing)
    return "it does not say when the write was sent: " + text;
  return {};
}

std::string of_charge(const Outcome& outcome, int received) {
  if (received > 1) return "the service received " + std::to_string(received) + " charges for one";
  if (outcome.end == End::completed && received == 0) return "a charge succeeded that the service did not receive";
  if (outcome.end != End::completed && !outcome.unknown && received > 0) {
    return std::string("the service received a charge that is reported as not made: ") +
           (outcome.end == End::no_memory ? "out of memory" : outcome.text.data());
  }
  return {};
}

std::string ending(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "it hangs";
  if (WIFSIGNALED(status)) return std::string("it crashed: ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "it ended with status " + std::to_string(WEXITSTATUS(status));
}

// Whether a known defect of another library explains the failure: looks at the library whose call was made to fail,
// and at how the process ended.
bool is_of_others(const Entry& entry, const Point& point, const Report& report, int status) {
  if (point.kind != TORTURE_MEMORY || report.run.depth <= caller) return false;
  Dl_info info{};
  if (dladdr(report.run.frames[caller], &info) == 0) return false;
  const std::string_view library = info.dli_fname;
  if (library.find("/libcurl") != std::string_view::npos) {
    // When memory runs out, singlesocket() of libcurl 7.88 destroys the table of a socket's transfers, then divides by
    // the table's size, which is 0.
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGFPE) return true;
  }
  // OpenSSL initialises itself only once. If OpenSSL's initialisation fails, some objects are never made, such as the
  // lock of the default context, but OpenSSL uses them anyway. So a process that ran out of memory during the
  // initialisation of OpenSSL can no longer use OpenSSL.
  if (entry.first_use && !entry.network && library.find("/libcrypto") != std::string_view::npos) return true;
  return false;
}

}  // namespace

int first_amount(int repetition) { return 1 + 2 * repetition; }
int amount_after(int repetition) { return 2 + 2 * repetition; }

void execute(const Entry& entry, const Point& point, const std::string& base_url, Report& report) {
  reported = &report;
  for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGALRM}) signal(number, &note_place);
  report.run.kind = point.kind;
  report.run.fail_at = point.number;
  report.run.keep_failing = point.keep_failing ? 1 : 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const long before = torture_blocks();
    auto& outcome = report.outcomes.at(static_cast<std::size_t>(repetition));
    try {
      const auto scenario = entry.make({base_url, first_amount(repetition), amount_after(repetition)});
      scenario->prepare();
      auto run = report.run;  // replaces report.run in later repetitions, so that the report keeps the first one
      run_once(*scenario, repetition == 0 ? report.run : run, report, outcome);
      scenario->after(outcome.end == End::completed);
      outcome.after = true;
    } catch (const std::exception& error) {
      copy(report.wrong, error.what());
    }
    if (open_attempts != 0) {
      outcome.end = End::other;
      copy(report.wrong, "an attempt that began was not told as ended, or without its path, or was told twice");
      report.finished = repetition + 1;
      return;
    }
    wait_for_other_threads();
    report.leaked = torture_blocks() - before;
    report.finished = repetition + 1;
    if (!outcome.after || report.leaked <= 0 || entry.first_use) return;
  }
}

std::string judge(const Entry& entry, const Point& point, const Report& report, int status, const Server& server) {
  if (is_of_others(entry, point, report, status)) return {};
  if (const auto ended = ending(status); !ended.empty()) return ended;
  for (int repetition = 0; repetition < report.finished; ++repetition) {
    const auto& outcome = report.outcomes.at(static_cast<std::size_t>(repetition));
    if (entry.writes) {
      if (auto wrong = of_charge(outcome, server.charges(first_amount(repetition))); !wrong.empty()) return wrong;
      if (outcome.after && server.charges(amount_after(repetition)) != 1)
        return "the next charge was not made exactly once";
    }
    if (report.wrong[0] != '\0' && outcome.end == End::other) return report.wrong.data();
    if (auto wrong = of_outcome(entry, point, outcome); !wrong.empty()) return wrong;
    if (!outcome.after) return std::string("the call after it fails: ") + report.wrong.data();
  }
  if (report.finished == repetitions && report.leaked > 0) {
    return "it leaks " + std::to_string(report.leaked) + " blocks";
  }
  return {};
}

}  // namespace torture
