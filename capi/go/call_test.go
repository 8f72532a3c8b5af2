package billcore

import (
	"context"
	"testing"
	"time"
)

// The time that a call waits while maxCalls other calls run counts towards the call's time-out and deadline.
func TestWaitingForASlotIsPartOfTheTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]int64{time.Minute: 59_000, time.Second: 1, -1: -1} {
		client := &Client{timeout: timeout}
		if got := client.timeoutOf(context.Background(), time.Second); got != want {
			t.Error(timeout, got)
		}
		if got := client.timeoutOf(context.Background(), 0); got != -1 {
			t.Error(timeout, got)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	client := &Client{timeout: 2 * time.Hour}
	if got := client.timeoutOf(ctx, 0); got <= 0 || got > time.Hour.Milliseconds() {
		t.Error(got)
	}
}
