// A team of threads that share the work of a run.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace turns {

/// Threads that wait between two runs, so that the measurement excludes their creation.
class Team {
 public:
  Team(int count, std::size_t (*work)(const void*, std::size_t), const void* context)
      : barrier_(count + 1), work_(work), context_(context) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Team() {
    over_ = true;
    barrier_.arrive_and_wait();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t run(std::size_t count) {
    each_ = count / threads_.size();
    total_ = 0;
    barrier_.arrive_and_wait();
    barrier_.arrive_and_wait();
    return total_;
  }

 private:
  void serve() {
    while (true) {
      barrier_.arrive_and_wait();
      if (over_) return;
      total_ += work_(context_, each_);
      barrier_.arrive_and_wait();
    }
  }

  std::barrier<> barrier_;
  std::size_t (*work_)(const void*, std::size_t);
  const void* context_;
  std::atomic<bool> over_{false};
  std::atomic<std::size_t> each_{0};
  std::atomic<std::size_t> total_{0};
  std::vector<std::jthread> threads_;
};

}  // namespace turns
