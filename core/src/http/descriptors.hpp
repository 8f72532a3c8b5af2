// The descriptors of a pool's connections. Internal.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace billcore::detail {

/// Lock-free, so that the child of a fork can read it whatever other threads were doing: it closes its copies of the
/// parent's connections, which does not touch the connections themselves. Threads: any.
class Descriptors {
 public:
  Descriptors() = default;
  ~Descriptors();
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  /// Remembers an open socket; does nothing when memory runs out.
  void add(int descriptor) noexcept;
  void remove(int descriptor) noexcept;
  /// In a child: closes those that still are the sockets they were.
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

  std::atomic<Node*> first_{nullptr};  // nodes are used again, and freed in the end only
};

}  // namespace billcore::detail
