#include "http/descriptors.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <new>

namespace billcore::detail {

Descriptors::~Descriptors() {
  for (Node* node = first_.load(); node != nullptr;) {
    const std::unique_ptr<Node> gone(node);
    node = gone->next;
  }
}

Descriptors::Node* Descriptors::claim() noexcept {
  for (Node* node = first_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    int expected = unused;
    if (node->descriptor.compare_exchange_strong(expected, claimed, std::memory_order_acq_rel)) return node;
  }
  Node* made = new (std::nothrow) Node;
  if (made == nullptr) return nullptr;
  made->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) {
  }
  return made;
}

void Descriptors::add(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return;
  remove(descriptor);  // an existing entry is stale: see Connections::add()
  Node* node = claim();
  if (node == nullptr) return;
  node->device = status.st_dev;
  node->inode = status.st_ino;
  node->descriptor.store(descriptor, std::memory_order_release);
}

void Descriptors::remove(int descriptor) noexcept {
  for (Node* node = first_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    int expected = descriptor;
    if (node->descriptor.compare_exchange_strong(expected, unused, std::memory_order_acq_rel)) return;
  }
}

void Descriptors::close_inherited() noexcept {
  for (Node* node = first_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    const int descriptor = node->descriptor.exchange(unused, std::memory_order_acq_rel);
    struct stat status {};
    // After the fork, the program may have closed this descriptor, and the number may now refer to another file.
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == node->device &&
        status.st_ino == node->inode) {
      close(descriptor);
    }
  }
}

}  // namespace billcore::detail
