/* The service in the process that is counted: it answers within the client's send(), so that an answer is always there
 * when the client asks for it, and each run executes the same instructions. Linked before the C library, or loaded with
 * LD_PRELOAD. Threads: one. */
#ifndef BILLCORE_COST_PEER_H
#define BILLCORE_COST_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Listens on loopback and answers each request with the file `METHOD TARGET` of the folder, where '/' is spelled '+'.
 * Returns the port; ends the process when something is wrong. */
int cost_listen(const char* folder);

/* Callgrind counts what is executed between the two marks, but for the peer's own work. */
void cost_begin(void);
void cost_end(const char* name);

#ifdef __cplusplus
}
#endif

#endif
