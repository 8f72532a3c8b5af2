//go:build !billcore_loop_only

package billcore

// blocking is the number of calls of a client that may block their threads. One or two calls are faster when they block;
// more at once need less processor time on the loop. With the build tag billcore_loop_only, which is for the tests, no
// call blocks.
const blocking = 2
