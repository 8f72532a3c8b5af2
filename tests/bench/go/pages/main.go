// The Go contender of the pages tables: net/http and encoding/json, used by hand.
package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"bench/turns"
)

type answer struct {
	Data []struct {
		ID           string `json:"id"`
		TotalWithVAT int    `json:"total_with_vat"`
		State        string `json:"state"`
	} `json:"data"`
	Pagination struct {
		TotalPages int `json:"total_pages"`
	} `json:"pagination"`
}

func (a *answer) sum() int {
	total := 0
	for i := range a.Data {
		order := &a.Data[i]
		total += len(order.ID) + order.TotalWithVAT + len(order.State)
	}
	return total
}

type row struct {
	baseURL string
	atOnce  int
	client  *http.Client
}

func (r *row) get(pages, page int) *answer {
	var out answer
	turns.Get(r.client, fmt.Sprintf("%s/subscription/sub_%d/orders?page=%d", r.baseURL, pages, page), &out)
	return &out
}

// Run reads the list of `pages` pages: the first page, then the others, with atOnce requests in flight.
func (r *row) Run(pages int) int {
	first := r.get(pages, 1)
	total := first.sum()
	if r.atOnce == 1 {
		for page := 2; page <= first.Pagination.TotalPages; page++ {
			total += r.get(pages, page).sum()
		}
		return total
	}
	wanted := make(chan int)
	totals := make([]int, r.atOnce)
	var all sync.WaitGroup
	for i := range totals {
		all.Add(1)
		go func(own *int) {
			defer all.Done()
			for page := range wanted {
				*own += r.get(pages, page).sum()
			}
		}(&totals[i])
	}
	for page := 2; page <= first.Pagination.TotalPages; page++ {
		wanted <- page
	}
	close(wanted)
	all.Wait()
	for _, one := range totals {
		total += one
	}
	return total
}

func (r *row) Show() string { return strconv.Itoa(r.Run(1)) }

func main() {
	turns.Serve(func(baseURL string, atOnce int) turns.Row {
		return &row{baseURL, atOnce, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}}}
	})
}
