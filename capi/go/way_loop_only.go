//go:build billcore_loop_only

package billcore

const blocking = 0
