// Fills a processor's caches with other code and data, as a caller's program does between two calls.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

/// Runs `size` bytes of code and reads as many bytes of data.
template <std::size_t size>
class Eviction {
 public:
  Eviction() {
    void* const made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    code_ = static_cast<char*>(made);
    for (std::size_t i = 0; i < size; i += nothing.size()) std::memcpy(code_ + i, nothing.data(), nothing.size());
    std::memcpy(code_ + size - nothing.size(), back.data(), back.size());
    __builtin___clear_cache(code_, code_ + size);
    if (mprotect(code_, size, PROT_READ | PROT_EXEC) != 0) throw std::bad_alloc();
  }
  ~Eviction() { munmap(code_, size); }
  Eviction(const Eviction&) = delete;
  Eviction& operator=(const Eviction&) = delete;

  void operator()() noexcept {
    void (*run)() = nullptr;
    std::memcpy(&run, &code_, sizeof run);
    run();
    for (std::size_t i = 0; i < size; i += 64) sum_ = sum_ + data_[i];
  }

 private:
  // An instruction that does nothing, and one that returns.
#if defined(__x86_64__)
  static constexpr std::array<unsigned char, 8> nothing{0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0};
  static constexpr std::array<unsigned char, 1> back{0xC3};
#elif defined(__aarch64__)
  static constexpr std::array<unsigned char, 4> nothing{0x1F, 0x20, 0x03, 0xD5};
  static constexpr std::array<unsigned char, 4> back{0xC0, 0x03, 0x5F, 0xD6};
#endif

  char* code_ = nullptr;
  std::array<unsigned char, size> data_{};
  volatile unsigned sum_ = 0;
};
