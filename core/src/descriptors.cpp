#include "descriptors.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <new>

namespace billcore::detail {
namespace {

// 0 while it is not connected.
int port_of(int descriptor) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace

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
  Node* node = claim();
  if (node == nullptr) return;
  node->device = status.st_dev;
  node->inode = status.st_ino;
  node->port.store(0, std::memory_order_relaxed);
  node->descriptor.store(descriptor, std::memory_order_release);
}

void Descriptors::remove(int descriptor) noexcept {
  for (Node* node = first_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    int expected = descriptor;
    if (node->descriptor.compare_exchange_strong(expected, unused, std::memory_order_acq_rel)) return;
  }
}

bool Descriptors::is_dead(int local_port) noexcept {
  for (Node* node = first_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    const int descriptor = node->descriptor.load(std::memory_order_acquire);
    if (descriptor < 0) continue;
    // Looked up once: with many connections the system calls would cost more than the request.
    int port = node->port.load(std::memory_order_relaxed);
    if (port == 0) {
      port = port_of(descriptor);
      node->port.store(port, std::memory_order_relaxed);
    }
    if (port != local_port) continue;
    pollfd state{descriptor, POLLRDHUP, 0};
    if (poll(&state, 1, 0) > 0 && (state.revents & (POLLERR | POLLHUP | POLLRDHUP | POLLNVAL)) != 0) return true;
  }
  return false;
}

void Descriptors::close_inherited() noexcept {
  for (Node* node = first_.load(std::memory_order_acquire); node != nullptr; node = node->next) {
    const int descriptor = node->descriptor.exchange(unused, std::memory_order_acq_rel);
    struct stat status {};
    // The program may have closed everything after the fork, and opened something else under this number.
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == node->device &&
        status.st_ino == node->inode) {
      close(descriptor);
    }
  }
}

}  // namespace billcore::detail
