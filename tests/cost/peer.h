/* A service that runs inside the measured process. The service answers inside the client's send(), so that the answer
 * is available when the client first reads, and each run executes the same instructions. The program links this
 * library before the C library, or loads it with LD_PRELOAD, and must have only one thread. */
#ifndef BILLCORE_COST_PEER_H
#define BILLCORE_COST_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Listens on loopback and answers each request with the file `METHOD TARGET` of the folder, where '/' is spelled '+'.
 * Returns the port; ends the process on an error. */
int cost_listen(const char* folder);

/* Callgrind counts the instructions between cost_begin() and cost_end(), except those of the peer. */
void cost_begin(void);
void cost_end(const char* name);
/* Stops the counting, and the next time goes on with it. The simulated caches work on meanwhile. */
void cost_pause(void);

#ifdef __cplusplus
}
#endif

#endif
