/* Implements interposer.h: the functions that fail in a torture run. The library is linked first, or loaded with
 * LD_PRELOAD. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include "interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static _Atomic(torture_run*) current;
static pthread_t victim;
static atomic_long blocks;

EXPORT void torture_begin(torture_run* run) {
  run->count = 0;
  run->failed = 0;
  run->depth = 0;
  run->what[0] = '\0';
  victim = pthread_self();
  atomic_store(&current, run);
}
EXPORT void torture_end(void) { atomic_store(&current, NULL); }
EXPORT long torture_blocks(void) { return atomic_load(&blocks); }

/* The first call of backtrace() loads a library, which allocates, so backtrace() is called here, before any run. */
__attribute__((constructor)) static void prepare(void) {
  void* frame = NULL;
  (void)backtrace(&frame, 1);
}

/* Whether a library whose name contains run->only is among the callers, at any depth of the stack. */
static int is_of_interest(torture_run* run) {
  if (run->only[0] == '\0') return 1;
  void* frames[TORTURE_FRAMES];
  int found = 0;
  atomic_store(&current, NULL);
  const int depth = backtrace(frames, TORTURE_FRAMES);
  for (int i = 0; i < depth && !found; ++i) {
    Dl_info info;
    found = dladdr(frames[i], &info) != 0 && strstr(info.dli_fname, run->only) != NULL;
  }
  atomic_store(&current, run);
  return found;
}

/* Counts a call, and returns whether it must fail. */
static int fails(int kind, const char* name) {
  torture_run* const run = atomic_load_explicit(&current, memory_order_relaxed);
  if (run == NULL || run->kind != kind || !pthread_equal(victim, pthread_self())) return 0;
  if (!is_of_interest(run)) return 0;
  const long number = ++run->count;
  if (run->fail_at == 0 || number < run->fail_at || (number > run->fail_at && !run->keep_failing)) return 0;
  if (run->failed++ == 0) {
    atomic_store(&current, NULL); /* backtrace() itself is not part of the run */
    strncpy(run->what, name, sizeof run->what - 1);
    run->depth = backtrace(run->frames, TORTURE_FRAMES);
    atomic_store(&current, run);
  }
  return 1;
}

/* The names under which glibc exports its own allocator, which the functions below call. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);

static void* counted(void* block) {
  if (block != NULL) atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
  return block;
}
static int no_memory(const char* name) {
  if (!fails(TORTURE_MEMORY, name)) return 0;
  errno = ENOMEM;
  return 1;
}

EXPORT void* malloc(size_t size) { return no_memory("malloc") ? NULL : counted(__libc_malloc(size)); }
EXPORT void* calloc(size_t count, size_t size) {
  return no_memory("calloc") ? NULL : counted(__libc_calloc(count, size));
}
EXPORT void free(void* block) {
  if (block != NULL) atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
  __libc_free(block);
}
EXPORT void* realloc(void* block, size_t size) {
  if (block == NULL) return malloc(size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  return no_memory("realloc") ? NULL : __libc_realloc(block, size);
}
EXPORT void* memalign(size_t alignment, size_t size) {
  return no_memory("memalign") ? NULL : counted(__libc_memalign(alignment, size));
}
EXPORT void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
EXPORT int posix_memalign(void** block, size_t alignment, size_t size) {
  void* const made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}

/* Replacements of system calls. error: errno of a failed call. again: errno of a call that is interrupted or not ready
 * (EINTR or EAGAIN); 0 if the call can be neither. */
static int refused(const char* name, int error, int again) {
  if (fails(TORTURE_CALLS, name)) {
    errno = error;
    return 1;
  }
  if (again != 0 && fails(TORTURE_AGAIN, name)) {
    errno = again;
    return 1;
  }
  return 0;
}

#define WRAP_AS(type, name, symbol, parameters, arguments, error, again)    \
  EXPORT type symbol parameters {                                           \
    static type(*_Atomic real) parameters;                                  \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #symbol); \
    if (refused(name, error, again)) return (type)-1;                       \
    return real arguments;                                                  \
  }
#define WRAP(type, name, parameters, arguments, error, again) \
  WRAP_AS(type, #name, name, parameters, arguments, error, again)

WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE, 0)
WRAP(int, socketpair, (int domain, int type, int protocol, int pair[2]), (domain, type, protocol, pair), EMFILE, 0)
WRAP(int, connect, (int fd, const struct sockaddr* to, socklen_t size), (fd, to, size), ECONNREFUSED, 0)
WRAP(ssize_t, send, (int fd, const void* data, size_t size, int flags), (fd, data, size, flags), ECONNRESET, EAGAIN)
WRAP(ssize_t, sendto, (int fd, const void* data, size_t size, int flags, const struct sockaddr* to, socklen_t length),
     (fd, data, size, flags, to, length), ECONNRESET, EAGAIN)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr* message, int flags), (fd, message, flags), ECONNRESET, EAGAIN)
WRAP(ssize_t, recv, (int fd, void* data, size_t size, int flags), (fd, data, size, flags), ECONNRESET, EAGAIN)
WRAP(ssize_t, recvfrom, (int fd, void* data, size_t size, int flags, struct sockaddr* from, socklen_t* length),
     (fd, data, size, flags, from, length), ECONNRESET, EAGAIN)
WRAP(ssize_t, recvmsg, (int fd, struct msghdr* message, int flags), (fd, message, flags), ECONNRESET, EAGAIN)
WRAP(ssize_t, read, (int fd, void* data, size_t size), (fd, data, size), EIO, EINTR)
WRAP(ssize_t, readv, (int fd, const struct iovec* parts, int count), (fd, parts, count), EIO, EINTR)
WRAP(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size), EIO, EINTR)
WRAP(ssize_t, writev, (int fd, const struct iovec* parts, int count), (fd, parts, count), EIO, EINTR)
WRAP(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout), ENOMEM, EINTR)
WRAP(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec* timeout, const sigset_t* mask),
     (fds, count, timeout, mask), ENOMEM, EINTR)
WRAP(int, epoll_create1, (int flags), (flags), EMFILE, 0)
WRAP(int, epoll_ctl, (int set, int operation, int fd, struct epoll_event* event), (set, operation, fd, event), ENOMEM,
     0)
WRAP(int, epoll_wait, (int set, struct epoll_event* events, int most, int timeout), (set, events, most, timeout),
     ENOMEM, EINTR)
WRAP(int, eventfd, (unsigned int count, int flags), (count, flags), EMFILE, 0)
WRAP(int, timerfd_create, (int clock, int flags), (clock, flags), EMFILE, 0)
WRAP(int, pipe, (int pair[2]), (pair), EMFILE, 0)
WRAP(int, pipe2, (int pair[2], int flags), (pair, flags), EMFILE, 0)
WRAP(int, getsockopt, (int fd, int level, int name, void* value, socklen_t* size), (fd, level, name, value, size),
     ENOBUFS, 0)
WRAP(int, setsockopt, (int fd, int level, int name, const void* value, socklen_t size), (fd, level, name, value, size),
     ENOBUFS, 0)
WRAP(int, getsockname, (int fd, struct sockaddr* address, socklen_t* size), (fd, address, size), ENOBUFS, 0)
WRAP(int, getpeername, (int fd, struct sockaddr* address, socklen_t* size), (fd, address, size), ENOBUFS, 0)

/* Variants of the functions above, which programs built with _FORTIFY_SOURCE call. */
WRAP_AS(ssize_t, "recv", __recv_chk, (int fd, void* data, size_t size, size_t room, int flags),
        (fd, data, size, room, flags), ECONNRESET, EAGAIN)
WRAP_AS(ssize_t, "read", __read_chk, (int fd, void* data, size_t size, size_t room), (fd, data, size, room), EIO, EINTR)
WRAP_AS(int, "poll", __poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
        (fds, count, timeout, room), ENOMEM, EINTR)

/* Functions with an optional argument, which the wrapper always passes on. If the caller passed no optional argument,
 * the wrapper passes an arbitrary value, which the function ignores. */
#define WRAP_WITH_MORE(name, shown, parameters, last, type, arguments, error) \
  EXPORT int name parameters {                                                \
    static int(*_Atomic real) parameters;                                     \
    if (real == NULL) real = (int(*) parameters)dlsym(RTLD_NEXT, #name);      \
    va_list list;                                                             \
    va_start(list, last);                                                     \
    type const more = va_arg(list, type);                                     \
    va_end(list);                                                             \
    return refused(shown, error, 0) ? -1 : real arguments;                    \
  }
#define WRAP_OPEN(name) \
  WRAP_WITH_MORE(name, "open", (const char* path, int flags, ...), flags, unsigned, (path, flags, more), EMFILE)
#define WRAP_OPENAT(name)                                                                         \
  WRAP_WITH_MORE(name, "openat", (int folder, const char* path, int flags, ...), flags, unsigned, \
                 (folder, path, flags, more), EMFILE)
#define WRAP_FCNTL(name) \
  WRAP_WITH_MORE(name, "fcntl", (int fd, int command, ...), command, void*, (fd, command, more), EINVAL)
WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)

/* fopen() has its own wrapper, because the C library's fopen() does not call the exported open(). */
#define WRAP_FOPEN(name)                                                                     \
  EXPORT FILE* name(const char* path, const char* mode) {                                    \
    static FILE* (*_Atomic real)(const char*, const char*);                                  \
    if (real == NULL) real = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, #name); \
    return refused("fopen", EMFILE, 0) ? NULL : real(path, mode);                            \
  }
WRAP_FOPEN(fopen)
WRAP_FOPEN(fopen64)
