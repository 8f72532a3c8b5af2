// Go's row of the rest tables: net/http and encoding/json. It speaks the protocol of rest_turns.py: rest-go CA_FILE
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	path   = "/subscription/sub_1001"
	apiKey = "key_bench_0123456789"
)

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

func (r *row) get() (*answer, error) {
	request, err := http.NewRequest("GET", r.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-API-KEY", apiKey)
	request.Header.Set("Accept", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	var out answer
	return &out, json.Unmarshal(body, &out)
}

func (r *row) getMany(count int) int {
	total := 0
	for ; count > 0; count-- {
		one, err := r.get()
		if err != nil {
			fail(err)
		}
		total += len(one.Data.ID) + len(one.Data.ReferenceID) + len(one.Data.Status)
	}
	return total
}

func (r *row) run(count int) int {
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

func cpuTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "rest-go:", err)
	os.Exit(1)
}

func main() {
	pem, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	rows := map[string]*row{}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var verb, url string
		var atOnce, count int
		// show has no count
		if _, err := fmt.Sscan(lines.Text(), &verb, &url, &atOnce, &count); err != nil && verb != "show" {
			fail(err)
		}
		key := fmt.Sprint(url, atOnce)
		if rows[key] == nil {
			rows[key] = newRow(roots, url, atOnce)
		}
		own := rows[key]
		if verb == "show" {
			one, err := own.get()
			if err != nil {
				fail(err)
			}
			fmt.Printf("%s\t%s\t%s\n", one.Data.ID, one.Data.ReferenceID, one.Data.Status)
			continue
		}
		own.run(own.atOnce) // connections that were idle for long may have to be made anew
		start, cpu := time.Now(), cpuTime()
		total := own.run(count)
		fmt.Println(time.Since(start).Nanoseconds(), cpuTime()-cpu, total)
	}
}
