package main

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"

	"bench/turns"
)

type subscription struct {
	Data struct {
		ID          string `json:"id"`
		ReferenceID string `json:"reference_id"`
		Status      string `json:"status"`
	} `json:"data"`
}

type gets struct {
	url    string
	atOnce int
	client *http.Client
}

func (g *gets) get() *subscription {
	var out subscription
	turns.Get(g.client, g.url, &out)
	return &out
}

func (g *gets) getMany(count int) int {
	total := 0
	for ; count > 0; count-- {
		one := g.get()
		total += len(one.Data.ID) + len(one.Data.ReferenceID) + len(one.Data.Status)
	}
	return total
}

func (g *gets) Run(count int) int {
	if g.atOnce == 1 {
		return g.getMany(count)
	}
	return together(g.atOnce, func() int { return g.getMany(count / g.atOnce) })
}

func (g *gets) Show() string {
	one := g.get()
	return strings.Join([]string{one.Data.ID, one.Data.ReferenceID, one.Data.Status}, "\t")
}

func serveRest(caFile string) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(turns.Must(os.ReadFile(caFile)))
	turns.Serve(func(baseURL string, atOnce int) turns.Row {
		transport := &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: atOnce,
		}
		return &gets{baseURL + "/subscription/sub_1001", atOnce, &http.Client{Transport: transport}}
	})
}
