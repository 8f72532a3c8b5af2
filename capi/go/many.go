package billcore

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"billcore.example/go/internal/model"
)

// Got is an id that GetMany was given, and the record with this id. If the call failed, the iterator also gives the
// call's error, and Value is empty.
type Got[I ID | int64, T any] struct {
	ID    I
	Value T
}

// ManyOption sets how a GetMany reads.
type ManyOption func(*manyOptions)

type manyOptions struct {
	concurrency int
	unordered   bool
}

// ManyConcurrency sets how many calls may be in flight at once; default: 16. After a 429 fewer are.
func ManyConcurrency(calls int) ManyOption { return func(o *manyOptions) { o.concurrency = calls } }

// ManyUnordered gives the records in the order in which they arrive, not in the order of their ids.
func ManyUnordered() ManyOption { return func(o *manyOptions) { o.unordered = true } }

// many is the calls of a GetMany.
type many[I ID | int64, T model.Returned] struct {
	manyOptions
	ctx      context.Context
	client   *Client
	get      func(id I) *operation
	yield    func(Got[I, T], error) bool
	slots    []*manySlot[I, T] // calls whose results were not given, in the order of the ids
	ended    chan *manySlot[I, T]
	inFlight int
	allowed  int // maximum number of calls in flight, because of answers with the status 429
}

type manySlot[I ID | int64, T any] struct {
	Got[I, T]
	err     error
	limited atomic.Bool // an attempt was answered with the status 429
	here    bool        // the call has ended
}

// getMany is GetMany of a group; get makes the operation for an id.
func getMany[I ID | int64, T model.Returned](
	ctx context.Context, client *Client, ids iter.Seq[I], options []ManyOption, get func(id I) *operation,
) iter.Seq2[Got[I, T], error] {
	return func(yield func(Got[I, T], error) bool) {
		m := &many[I, T]{manyOptions: manyOptions{concurrency: 16}, client: client, get: get, yield: yield, allowed: math.MaxInt}
		for _, one := range options {
			one(&m.manyOptions)
		}
		switch {
		case ctx == nil:
			yield(Got[I, T]{}, noContext())
		case m.concurrency < 1:
			yield(Got[I, T]{}, model.NewError(ErrInvalidArgument, "concurrency must be at least 1: the number of calls in flight at once"))
		default:
			m.ended = make(chan *manySlot[I, T])
			var cancel context.CancelFunc
			m.ctx, cancel = context.WithCancel(ctx)
			defer m.leave(cancel)
			m.read(ids)
		}
	}
}

// read returns when the caller has left its loop, when the context is done, or when all results were given.
func (m *many[I, T]) read(ids iter.Seq[I]) {
	for id := range ids {
		for m.inFlight >= min(m.concurrency, m.allowed) || len(m.slots) >= 2*m.concurrency {
			if !m.give() {
				return
			}
		}
		if err := reason(m.ctx); err != nil {
			m.end(err)
			return
		}
		m.start(id)
	}
	for len(m.slots) > 0 && m.give() {
	}
}

// end gives the last result of a loop whose context is done.
func (m *many[I, T]) end(cause error) {
	code, what := ErrInterrupted, "was cancelled"
	if errors.Is(cause, context.DeadlineExceeded) {
		code, what = ErrTimeout, "passed its deadline"
	}
	m.yield(Got[I, T]{}, model.Ended(model.NewError(code, "get_many: the context %s; ask again for the ids that have no result yet", what), cause))
}

func (m *many[I, T]) start(id I) {
	slot := &manySlot[I, T]{Got: Got[I, T]{ID: id}}
	m.slots = append(m.slots, slot)
	m.inFlight++
	operation := m.get(id)
	operation.limited = &slot.limited
	go func() {
		slot.Value, slot.err = resource[T](m.client.perform(m.ctx, operation, nil))
		m.ended <- slot // received by give() or by leave()
	}()
}

// give waits for the next result and gives it to the caller's loop. It returns false when the caller has left the loop.
func (m *many[I, T]) give() bool {
	next := 0
	for {
		if m.unordered {
			next = slices.IndexFunc(m.slots, func(slot *manySlot[I, T]) bool { return slot.here })
		}
		if next >= 0 && m.slots[next].here {
			slot := m.slots[next]
			m.slots = slices.Delete(m.slots, next, next+1)
			if errors.Is(slot.err, context.Canceled) || errors.Is(slot.err, context.DeadlineExceeded) {
				m.end(errors.Unwrap(slot.err))
				return false
			}
			return m.yield(slot.Got, slot.err)
		}
		m.wait()
	}
}

// wait waits for the end of a call. After a 429, half as many calls may be in flight, as pages of a list.
func (m *many[I, T]) wait() {
	slot := <-m.ended
	slot.here = true
	if slot.limited.Load() {
		m.allowed = max(1, min(m.allowed, m.inFlight)/2)
	} else if m.allowed < math.MaxInt {
		m.allowed++
	}
	m.inFlight--
}

// leave cancels the calls in flight, and waits until their hooks have run.
func (m *many[I, T]) leave(cancel context.CancelFunc) {
	cancel()
	for ; m.inFlight > 0; m.inFlight-- {
		<-m.ended
	}
}
