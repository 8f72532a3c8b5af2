package billcoretests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	billcore "billcore.example/go"
)

// Reading stops with the loop: ids that are not needed are not asked for, and calls in flight are cancelled.
func TestGetManyThatIsLeftOrCancelled(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"data":{"id":%q}}`, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
	})
	var told ends
	client := connect(t, s.URL, billcore.WithNoTimeout(), billcore.WithHooks(told.hooks(t)))
	asked := 0
	ids := func(yield func(billcore.ID) bool) { // without end; the third never gets an answer
		for asked++; yield(billcore.ID(map[bool]string{true: "hang", false: fmt.Sprint(asked)}[asked == 3])); asked++ {
		}
	}
	hung := func() int { return strings.Count(strings.Join(s.sent(), "\n"), "GET /acct/order/hang ") }
	mine := errors.New("mine")
	for _, leave := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(background)
		before, earlier := s.broken.Load(), hung()
		asked = 0
		var got []billcore.ID
		for one, err := range client.Orders().GetMany(ctx, ids, billcore.ManyConcurrency(4)) {
			if err != nil {
				code(t, err, billcore.ErrInterrupted)
				if !errors.Is(err, context.Canceled) || !errors.Is(err, mine) || one.ID != "" || leave {
					t.Fatal(err, one.ID)
				}
				break
			}
			if got = append(got, must(one.Value.ID())); len(got) < 2 {
				continue
			}
			await(t, "the third is asked for", func() bool { return hung() > earlier })
			if leave {
				break
			}
			cancel(mine)
		}
		if !slices.Equal(got, []billcore.ID{"1", "2"}) || asked > 10 {
			t.Fatal(got, asked)
		}
		await(t, "the server sees the connection end", func() bool { return s.broken.Load() > before })
		if begun, ended := told.count(); begun != ended {
			t.Fatal(begun, ended)
		}
		cancel(nil)
	}
	var none context.Context
	for _, err := range client.Products().GetMany(none, slices.Values([]int64{1})) {
		code(t, err, billcore.ErrInvalidArgument)
	}
}
