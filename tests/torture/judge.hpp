// One point of a scenario: what became of it, and whether that is allowed.
#pragma once

#include <array>
#include <string>

#include "interposer.h"
#include "scenario.hpp"
#include "server.hpp"

namespace torture {

/// What `run` of a scenario ended with.
enum class End : int { none, completed, no_memory, error, other };

/// Of one repetition. In memory that a process under torture shares with its judge.
struct Outcome {
  End end;
  int code;      // of an error
  int cause;     // of an error of unknown outcome
  bool unknown;  // a write may or may not have happened
  bool after;    // the call after it succeeded
  std::array<char, 300> text;
};

/// The first repetition tells a leak from what is kept for good only together with the second.
constexpr int repetitions = 2;

struct Report {
  torture_run run;
  std::array<Outcome, repetitions> outcomes;
  int finished;  // repetitions
  long leaked;   // blocks
  std::array<char, 300> wrong;
  int depth;  // of the end by a signal
  std::array<void*, TORTURE_FRAMES> frames;
};

struct Point {
  int kind = TORTURE_MEMORY;
  long number = 0;  // 0: nothing fails
  bool keep_failing = false;
};

/// In a process of its own: runs the scenario, fills the report.
void execute(const Entry& entry, const Point& point, const std::string& base_url, Report& report);
/// Beside it, once it has ended: what is wrong with it; empty when nothing is. status: of waitpid().
std::string judge(const Entry& entry, const Point& point, const Report& report, int status, const Server& server);

int first_amount(int repetition);
int amount_after(int repetition);

}  // namespace torture
