package main

import (
	"fmt"
	"net/http"
	"strconv"

	"bench/turns"
)

type page struct {
	Data []struct {
		ID           string `json:"id"`
		TotalWithVAT int    `json:"total_with_vat"`
		State        string `json:"state"`
	} `json:"data"`
	Pagination struct {
		TotalPages int `json:"total_pages"`
	} `json:"pagination"`
}

func (a *page) sum() int {
	total := 0
	for i := range a.Data {
		order := &a.Data[i]
		total += len(order.ID) + order.TotalWithVAT + len(order.State)
	}
	return total
}

type lists struct {
	baseURL string
	atOnce  int
	client  *http.Client
}

func (l *lists) get(pages, number int) *page {
	var out page
	turns.Get(l.client, fmt.Sprintf("%s/subscription/sub_%d/orders?page=%d", l.baseURL, pages, number), &out)
	return &out
}

// Run reads the list of `pages` pages: the first page, then the others, with atOnce requests in flight.
func (l *lists) Run(pages int) int {
	first := l.get(pages, 1)
	total := first.sum()
	if l.atOnce == 1 {
		for page := 2; page <= first.Pagination.TotalPages; page++ {
			total += l.get(pages, page).sum()
		}
		return total
	}
	wanted := make(chan int)
	go func() {
		for page := 2; page <= first.Pagination.TotalPages; page++ {
			wanted <- page
		}
		close(wanted)
	}()
	return total + together(l.atOnce, func() int {
		own := 0
		for page := range wanted {
			own += l.get(pages, page).sum()
		}
		return own
	})
}

func (l *lists) Show() string { return strconv.Itoa(l.Run(1)) }

func servePages(name string) {
	turns.Serve(func(baseURL string, atOnce int) turns.Row {
		if name == "go_billcore" {
			return newOurs(baseURL, atOnce)
		}
		return &lists{baseURL, atOnce, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}}
	})
}
