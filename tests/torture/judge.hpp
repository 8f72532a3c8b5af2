// Runs one point of a scenario and judges whether its result is allowed.
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
  int code;      // code of an error
  int cause;     // cause of an error of unknown outcome
  bool unknown;  // whether the error says that the write may have happened
  bool after;    // whether the call after the torture succeeded
  std::array<char, 300> text;
};

/// The first repetition also allocates memory that is kept permanently; in the second, only a leak allocates again.
constexpr int repetitions = 2;

struct Report {
  torture_run run;
  std::array<Outcome, repetitions> outcomes;
  int finished;  // number of repetitions
  long leaked;   // number of leaked blocks
  std::array<char, 300> wrong;
  int depth;  // number of `frames`, set when a signal ends the run
  std::array<void*, TORTURE_FRAMES> frames;
};

struct Point {
  int kind = TORTURE_MEMORY;
  long number = 0;  // 0: nothing fails
  bool keep_failing = false;
};

/// Runs the scenario and fills the report. Called in a child process.
void execute(const Entry& entry, const Point& point, const std::string& base_url, Report& report);
/// Returns the problem, or an empty text. Called in the parent, after the child has ended. status: as waitpid() gives
/// it.
std::string judge(const Entry& entry, const Point& point, const Report& report, int status, const Server& server);

int first_amount(int repetition);
int amount_after(int repetition);

}  // namespace torture
