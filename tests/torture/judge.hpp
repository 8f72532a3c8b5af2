// Runs a scenario in which the Nth call fails (a point), and judges whether the result is allowed.
#pragma once

#include <array>
#include <string>

#include "interposer.h"
#include "scenario.hpp"
#include "server.hpp"

namespace torture {

/// How Scenario::run() ended.
enum class End : int { none, completed, no_memory, error, other };

/// The result of one repetition, in memory that the process under torture shares with its parent.
struct Outcome {
  End end;
  int code;      // error code of the exception that run() threw
  int cause;     // error code of the cause, if the outcome is unknown
  bool unknown;  // whether the error says that the write may have happened
  bool dated;    // whether the error says when the write was sent
  bool after;    // whether after() succeeded
  std::array<char, 300> text;
};

/// Each run is repeated, because the library keeps some memory permanently: only the first repetition allocates that
/// memory, so blocks that the second repetition does not free are leaks.
constexpr int repetitions = 2;

struct Report {
  torture_run run;
  std::array<Outcome, repetitions> outcomes;
  int finished;  // number of repetitions that ended
  long leaked;   // number of leaked blocks
  std::array<char, 300> wrong;
  int depth;  // number of `frames`; set only if a signal ends the run
  std::array<void*, TORTURE_FRAMES> frames;
};

struct Point {
  int kind = TORTURE_MEMORY;
  long number = 0;  // 0: nothing fails
  bool keep_failing = false;
};

/// Runs the scenario and fills the report. Called in a child process.
void execute(const Entry& entry, const Point& point, const std::string& base_url, Report& report);
/// Returns a description of the problem, or an empty text. Called in the parent, after the child has ended. status: the
/// child's status from waitpid().
std::string judge(const Entry& entry, const Point& point, const Report& report, int status, const Server& server);

int first_amount(int repetition);
int amount_after(int repetition);

}  // namespace torture
