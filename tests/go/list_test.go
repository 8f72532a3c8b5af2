package billcoretests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	billcore "billcore.example/go"
)

func ids(t *testing.T, list *billcore.List[billcore.Order], most int) (out []billcore.ID) {
	t.Helper()
	for order, err := range list.All() {
		if out = append(out, must(must(order, err).ID())); len(out) == most {
			break
		}
	}
	return out
}

func TestAListThatIsReadOrClosed(t *testing.T) {
	list := connect(t, serve(t, book(15)).URL).Subscriptions().Orders(background, "s")
	got, more := ids(t, list, -1), ids(t, list, -1)
	standing, err := list.Standing()
	if len(got) != 15 || len(more) != 0 || err != nil || !standing.Complete || standing.Total != 15 || standing.FetchedPages != 2 {
		t.Fatal(len(got), len(more), standing, err)
	}
	list.Close()
	list.Close()
	for _, err := range list.All() {
		code(t, err, billcore.ErrConfig)
	}
}

func TestALoopThatIsLeftCanBeGoneOnWith(t *testing.T) {
	s := serve(t, book(50))
	client := connect(t, s.URL, billcore.WithConcurrency(2))
	list := client.Subscriptions().Orders(background, "s")
	first := ids(t, list, 13)
	fetched := len(s.sent())
	standing, err := list.Standing()
	if err != nil || standing.Reason != "stopped" || fetched > 5 { // more if the prefetch goes on
		t.Fatal(standing, err, fetched)
	}
	resumed := ids(t, client.Subscriptions().Orders(background, "s", billcore.ListResume(standing.State)), -1)
	func() {
		defer func() { _ = recover() }()
		for range list.All() {
			panic("mine")
		}
	}()
	rest := ids(t, list, -1)
	if len(first) != 13 || len(rest) != 36 || rest[0] != "ord_15" || len(resumed) != 37 || resumed[0] != "ord_14" {
		t.Fatal(len(first), len(rest), rest[0], len(resumed))
	}
}

func TestTheStateIsExactWithinALoop(t *testing.T) {
	s := serve(t, book(40))
	client := connect(t, s.URL)
	list := client.Subscriptions().Orders(background, "s")
	seen := 0
	for _, err := range list.All() {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen%7 != 0 {
			continue
		}
		standing := must(list.Standing())
		next, found, err := client.Subscriptions().Orders(background, "s", billcore.ListResume(standing.State)).First()
		if seen == 40 {
			break
		}
		id, _ := next.ID()
		if err != nil || !found || id != billcore.ID(fmt.Sprintf("ord_%d", seen+1)) {
			t.Fatal(seen, id, found, err)
		}
	}
	if seen != 40 {
		t.Fatal(seen)
	}
}

func TestPages(t *testing.T) {
	list := connect(t, serve(t, book(25)).URL).Subscriptions().Orders(background, "s")
	ids(t, list, 3)
	var sizes []int
	for page, err := range list.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Items))
		if page.Pagination.Total != 25 || page.Pagination.CurrentPage != int64(len(sizes)) || page.Pagination.TotalPages != 3 {
			t.Fatal(page.Pagination)
		}
	}
	if fmt.Sprint(sizes) != "[7 10 5]" {
		t.Fatal(sizes)
	}
}

func TestItemsOutliveTheirListAndClient(t *testing.T) {
	client := connect(t, serve(t, book(30)).URL)
	var kept []billcore.Order
	list := client.Subscriptions().Orders(background, "s")
	for order, err := range list.All() {
		kept = append(kept, must(order, err))
	}
	list.Close()
	client.Close()
	list, client = nil, nil
	for range 3 {
		runtime.GC()
	}
	for i, order := range kept {
		total, err := order.Total()
		id, err2 := order.ID()
		raw, err3 := order.Raw()
		if total != int64(i+1)*100 || id != billcore.ID(fmt.Sprintf("ord_%d", i+1)) || errors.Join(err, err2, err3) != nil || len(raw) < 100 {
			t.Fatal(i, total, id, err, err2, err3)
		}
	}
}

func TestOneLoopAtATime(t *testing.T) {
	s := serve(t, book(50))
	list := connect(t, s.URL).Subscriptions().Orders(background, "s")
	reading, release := make(chan struct{}), make(chan struct{})
	done := make(chan int)
	go func() {
		seen := 0
		for range list.All() {
			if seen++; seen == 1 {
				close(reading)
				<-release
			}
		}
		done <- seen
	}()
	<-reading
	refused := 0
	for _, err := range list.All() {
		code(t, err, billcore.ErrInvalidArgument)
		refused++
	}
	if _, err := list.Standing(); err != nil || refused != 1 {
		t.Fatal(err, refused)
	}
	close(release)
	if seen := <-done; seen != 50 {
		t.Fatal(seen)
	}
}

func TestCancellingEndsAList(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "3" {
			<-r.Context().Done()
			return
		}
		book(50)(w, r)
	})
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	list := connect(t, s.URL, billcore.WithConcurrency(1)).Subscriptions().Orders(ctx, "s")
	seen, failed := 0, error(nil)
	for _, err := range list.All() {
		if err != nil {
			failed = err
			continue
		}
		if seen++; seen == 20 {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
	}
	if seen != 20 || !errors.Is(failed, context.Canceled) || !errors.Is(failed, billcore.ErrInterrupted) {
		t.Fatal(seen, failed)
	}
	standing, err := list.Standing()
	if err != nil || standing.State == "" {
		t.Fatal(err)
	}
}

func TestACloseWhileAPageIsFetched(t *testing.T) {
	s := serve(t, book(2000))
	client := connect(t, s.URL)
	for range 50 {
		list := client.Subscriptions().Orders(background, "s")
		go list.Close()
		for _, err := range list.All() {
			if err != nil {
				code(t, err, billcore.ErrConfig)
			}
		}
	}
}
