package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"

	"bench/turns"
	billcore "billcore.example/go"
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

// ourGets are GETs of billcore's client.
type ourGets struct {
	atOnce int
	client *billcore.Client
}

func (g *ourGets) get() []string {
	one := turns.Must(g.client.Subscriptions().Get(context.Background(), "sub_1001"))
	reference, _, err := one.ReferenceID()
	return []string{string(turns.Must(one.ID())), turns.Must(reference, err), string(turns.Must(one.Status()))}
}

func (g *ourGets) getMany(count int) int {
	total := 0
	for ; count > 0; count-- {
		for _, text := range g.get() {
			total += len(text)
		}
	}
	return total
}

func (g *ourGets) Run(count int) int {
	if g.atOnce == 1 {
		return g.getMany(count)
	}
	return together(g.atOnce, func() int { return g.getMany(count / g.atOnce) })
}

func (g *ourGets) Show() string { return strings.Join(g.get(), "\t") }

func serveRest(row, caFile string) {
	if row == "go_billcore" {
		turns.Serve(func(baseURL string, atOnce int) turns.Row {
			return &ourGets{atOnce, turns.Must(billcore.NewClient(billcore.WithBaseURL(baseURL), billcore.WithAPIKey("key_bench_0123456789"),
				billcore.WithCABundle(caFile), billcore.WithHTTP2(true)))}
		})
		return
	}
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
