// The bench program for Go in the area `rest`: net/http and encoding/json. Usage: rest-go CA_FILE
package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"sync"

	"bench/turns"
)

const path = "/subscription/sub_1001"

type answer struct {
	Data struct {
		ID          string `json:"id"`
		ReferenceID string `json:"reference_id"`
		Status      string `json:"status"`
	} `json:"data"`
}

type row struct {
	url    string
	atOnce int
	client *http.Client
}

func newRow(roots *x509.CertPool, baseURL string, atOnce int) *row {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: atOnce,
	}
	return &row{baseURL + path, atOnce, &http.Client{Transport: transport}}
}

func (r *row) get() *answer {
	var out answer
	turns.Get(r.client, r.url, &out)
	return &out
}

func (r *row) getMany(count int) int {
	total := 0
	for ; count > 0; count-- {
		one := r.get()
		total += len(one.Data.ID) + len(one.Data.ReferenceID) + len(one.Data.Status)
	}
	return total
}

func (r *row) Run(count int) int {
	if r.atOnce == 1 {
		return r.getMany(count)
	}
	totals := make([]int, r.atOnce)
	var all sync.WaitGroup
	for i := range totals {
		all.Add(1)
		go func(own *int) {
			defer all.Done()
			*own = r.getMany(count / r.atOnce)
		}(&totals[i])
	}
	all.Wait()
	total := 0
	for _, one := range totals {
		total += one
	}
	return total
}

func (r *row) Show() string {
	one := r.get()
	return strings.Join([]string{one.Data.ID, one.Data.ReferenceID, one.Data.Status}, "\t")
}

func main() {
	pem, err := os.ReadFile(os.Args[1])
	if err != nil {
		turns.Fail(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	turns.Serve(func(baseURL string, atOnce int) turns.Row { return newRow(roots, baseURL, atOnce) })
}
