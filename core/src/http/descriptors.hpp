// The socket descriptors of a pool's connections. Internal.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace billcore::detail {

/// The list is lock-free, so that a forked child can always read it: a lock might have been held by another thread at
/// the time of the fork. The child closes its copies of the parent's descriptors, which does not affect the parent's
/// connections. Threads: any.
class Descriptors {
 public:
  Descriptors() = default;
  ~Descriptors();
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  /// Records an open socket; does nothing if memory runs out.
  void add(int descriptor) noexcept;
  void remove(int descriptor) noexcept;
  /// Closes the descriptors that still refer to the recorded sockets. Call close_inherited() only in a forked child.
  void close_inherited() noexcept;

 private:
  static constexpr int unused = -1;
  static constexpr int claimed = -2;
  struct Node {
    std::atomic<int> descriptor{claimed};
    dev_t device = 0;
    ino_t inode = 0;
    Node* next = nullptr;
  };
  [[nodiscard]] Node* claim() noexcept;

  std::atomic<Node*> first_{nullptr};  // the list's nodes are reused; only the destructor frees them
};

}  // namespace billcore::detail
