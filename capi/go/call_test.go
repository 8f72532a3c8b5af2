package billcore

import (
	"context"
	"testing"
	"time"
)

// Of the client's time-out and the context's deadline, the earlier one counts.
func TestTheEarlierOfTimeoutAndDeadlineCounts(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, each := range []struct {
		timeout time.Duration
		ctx     context.Context
		least   int64
		most    int64
	}{
		{time.Minute, context.Background(), -1, -1}, {time.Minute, ctx, -1, -1}, {-1, context.Background(), -1, -1},
		{2 * time.Hour, ctx, 1, time.Hour.Milliseconds()}, {-1, ctx, 1, time.Hour.Milliseconds()},
	} {
		client := &Client{timeout: each.timeout}
		if got := client.timeoutOf(each.ctx); got < each.least || got > each.most {
			t.Error(each, got)
		}
	}
}
