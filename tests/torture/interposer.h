/* Makes the Nth call of a kind fail, among the calls that one thread makes between torture_begin() and torture_end().
 * The library interposer.c replaces malloc and the system calls for the whole process; outside of a run, the library
 * only counts allocated blocks.
 *
 * Threads: a process has one run at a time. Calls of other threads never fail. */
#ifndef BILLCORE_TORTURE_INTERPOSER_H
#define BILLCORE_TORTURE_INTERPOSER_H

#ifdef __cplusplus
extern "C" {
#endif

#define TORTURE_FRAMES 48

enum torture_kind {
  TORTURE_MEMORY = 1, /* an allocation fails for lack of memory */
  TORTURE_CALLS = 2,  /* a system call fails with the error most harmful to a client */
  TORTURE_AGAIN = 4   /* a system call is interrupted or not ready (EINTR or EAGAIN), without loss of data */
};

/* A run may be in shared memory, so that the information about the failing call survives a crash. */
typedef struct torture_run {
  int kind;
  long fail_at;     /* number of the call that must fail, from 1; 0: only count calls */
  int keep_failing; /* true: every later call until torture_end() fails as well */
  char only[32];    /* count only calls made below a library whose name contains this; empty: all */
  long count;       /* number of calls so far */
  long failed;      /* number of calls that were made to fail */
  char what[32];    /* name of the function that failed first */
  int depth;
  void* frames[TORTURE_FRAMES]; /* stack of the call that failed first, innermost frame first */
} torture_run;

/* Begins a run on the calling thread; uses `run` until torture_end(). */
void torture_begin(torture_run* run);
void torture_end(void);
/* Returns the number of heap blocks in use, of all threads. */
long torture_blocks(void);

#ifdef __cplusplus
}
#endif
#endif
