package billcoretests

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	billcore "billcore.example/go"
)

func TestAContextThatIsDoneSendsNothing(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s.URL)
	done, cancel := context.WithCancel(background)
	cancel()
	_, err := client.Subscriptions().Charge(done, "s", 1, 1)
	if e := code(t, err, billcore.ErrInterrupted); !errors.Is(err, context.Canceled) || e.OutcomeUnknown || e.Timeout() {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(background, time.Now().Add(-time.Second))
	defer cancel()
	_, err = client.Orders().Get(late, "o")
	if e := code(t, err, billcore.ErrTimeout); !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() || !errors.Is(err, billcore.ErrTransport) {
		t.Fatal(err)
	}
	for _, err := range client.Products().List(done).All() {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if len(s.sent()) != 0 {
		t.Fatal(s.sent())
	}
}

func TestCancellingEndsTheTransfer(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s.URL)
	mine := errors.New("mine")
	for _, write := range []bool{false, true} {
		before := s.broken.Load()
		sent := len(s.sent())
		ctx, cancel := context.WithCancelCause(background)
		failed := make(chan error)
		go func() {
			var err error
			if write {
				_, err = client.Subscriptions().Charge(ctx, "hang", 1, 1)
			} else {
				_, err = client.Orders().Get(ctx, "hang")
			}
			failed <- err
		}()
		await(t, "the request arrives", func() bool { return len(s.sent()) > sent })
		cancel(mine)
		err := <-failed
		e := code(t, err, billcore.ErrInterrupted)
		if e.OutcomeUnknown != write || errors.Is(err, billcore.ErrOutcomeUnknown) != write {
			t.Fatal(err, e.OutcomeUnknown)
		}
		_, later := client.Orders().Get(ctx, "o")
		for _, err := range []error{err, later} {
			if code(t, err, billcore.ErrInterrupted); !errors.Is(err, context.Canceled) || !errors.Is(err, mine) {
				t.Fatal(err)
			}
		}
		await(t, "the server sees the connection end", func() bool { return s.broken.Load() > before })
	}
}

func TestADeadlineOfTheContextCounts(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	client := connect(t, s.URL, billcore.WithNoTimeout())
	await(t, "a charge is sent before its deadline", func() bool {
		ctx, cancel := context.WithTimeout(background, 50*time.Millisecond)
		defer cancel()
		_, err := client.Subscriptions().Charge(ctx, "hang", 1, 1)
		var e *billcore.Error
		if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) || !e.Timeout() {
			t.Fatal(err)
		}
		if !e.OutcomeUnknown { // on a busy machine the deadline may come first
			code(t, err, billcore.ErrTimeout)
		}
		return errors.Is(err, billcore.ErrOutcomeUnknown)
	})
	must(client.With(billcore.WithTimeout(time.Nanosecond))) // rounded up to a millisecond, as 0 is refused
	short := must(client.With(billcore.WithTimeout(50 * time.Millisecond)))
	_, err := short.Orders().Get(background, "hang")
	if code(t, err, billcore.ErrTimeout); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the context has no deadline")
	}
}

func TestManyCancelledCalls(t *testing.T) {
	s := serve(t, wrapped(order(1)))
	var told ends
	client := connect(t, s.URL, billcore.WithHooks(told.hooks(t)))
	goroutines := runtime.NumGoroutine()
	var all sync.WaitGroup
	for i := range 1000 {
		all.Add(1)
		go func() {
			defer all.Done()
			ctx, cancel := context.WithTimeout(background, time.Duration(i%20)*time.Millisecond)
			defer cancel()
			id := billcore.ID("hang")
			if i%3 == 0 {
				id = "o"
			}
			_, err := client.Orders().Get(ctx, id)
			if err == nil && id == "hang" || err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, billcore.ErrTimeout) {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	client.Close()
	s.CloseClientConnections()
	await(t, "the goroutines end", func() bool { runtime.GC(); return runtime.NumGoroutine() <= goroutines })
	if begun, ended := told.count(); begun != ended {
		t.Fatal(begun, ended)
	}
}
