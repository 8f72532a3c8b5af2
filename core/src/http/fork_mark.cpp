#include "http/fork_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace billcore::detail {
namespace {

constexpr std::size_t page_size = sizeof(std::atomic<std::uint64_t>);  // the kernel rounds the size up to a page

}  // namespace

ForkMark::ForkMark() noexcept {
  void* const page = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, page_size, MADV_WIPEONFORK) != 0) {
    munmap(page, page_size);
    return;
  }
  page_ = new (page) std::atomic<std::uint64_t>(last_.load());
}

ForkMark::~ForkMark() {
  if (page_ != nullptr) munmap(page_, page_size);
}

std::uint64_t ForkMark::here() noexcept {
  if (page_ == nullptr) return static_cast<std::uint64_t>(getpid());
  auto known = page_->load(std::memory_order_acquire);
  if (known != 0) return known;
  // The number of this process is not set yet, so this is the first call in a forked child. If several threads make the
  // first call at once, one of them sets the number.
  const auto fresh = last_.fetch_add(1) + 1;
  return page_->compare_exchange_strong(known, fresh) ? fresh : known;
}

}  // namespace billcore::detail
