// One point of a scenario: its result, and whether that is allowed.
#pragma once

#include <array>
#include <string>

#include "interposer.h"
#include "scenario.hpp"
#include "server.hpp"

namespace torture {

/// How `run` of a scenario ended.
enum class End : int { none, completed, no_memory, error, other };

/// The result of one repetition. In memory that a process under torture shares with its judge.
struct Outcome {
  End end;
  int code;      // code of an error
  int cause;     // cause of an error of unknown outcome
  bool unknown;  // the write may or may not have happened
  bool after;    // the following call succeeded
  std::array<char, 300> text;
};

/// Two, because only the second one tells a leak from memory that is kept permanently.
constexpr int repetitions = 2;

struct Report {
  torture_run run;
  std::array<Outcome, repetitions> outcomes;
  int finished;  // number of repetitions
  long leaked;   // number of blocks
  std::array<char, 300> wrong;
  int depth;  // number of `frames`, set when a signal ends the run
  std::array<void*, TORTURE_FRAMES> frames;
};

struct Point {
  int kind = TORTURE_MEMORY;
  long number = 0;  // 0: nothing fails
  bool keep_failing = false;
};

/// In a child process: runs the scenario, fills the report.
void execute(const Entry& entry, const Point& point, const std::string& base_url, Report& report);
/// In the parent, after the child's end: the problem with it, empty if there is none. status: of waitpid().
std::string judge(const Entry& entry, const Point& point, const Report& report, int status, const Server& server);

int first_amount(int repetition);
int amount_after(int repetition);

}  // namespace torture
