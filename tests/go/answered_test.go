package billcoretests

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"billcore"
)

// If a charge was made, Charge returns the order or an unknown outcome, even if the context is cancelled while the
// answer arrives.
func TestAContextCancelledWithTheAnswerHidesNoCharge(t *testing.T) {
	const calls = 2000
	cancels := make(chan context.CancelFunc, 1)
	var answers atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		(<-cancels)()
		wait := time.Duration(answers.Add(1)%60) * time.Microsecond
		for cancelled := time.Now(); time.Since(cancelled) < wait; { // a busy loop: even a short sleep is longer than `wait`
		}
		wrapped(order(1))(w, r)
	})
	client := connect(t, s)
	given, unknown := 0, 0
	for range calls {
		ctx, cancel := context.WithCancel(background)
		cancels <- cancel
		made, err := client.Subscriptions().Charge(ctx, "s", 1, 100)
		switch {
		case err == nil:
			if total, err := made.Total(); total != 100 || err != nil {
				t.Fatal(total, err)
			}
			given++
		case errors.Is(err, billcore.ErrOutcomeUnknown) && errors.Is(err, context.Canceled):
			unknown++
		default:
			t.Fatal(err)
		}
	}
	if sent := len(s.sent()); given+unknown != calls || sent != calls {
		t.Fatal(given, unknown, sent)
	}
}
