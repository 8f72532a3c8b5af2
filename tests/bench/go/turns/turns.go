// Package turns implements the protocol of turns.py, in which turns.py sends commands to a benchmark program.
package turns

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"time"
)

// Row is a contender: a client with its connections. Run performs `count` operations and returns the total length of
// the values that they read; Show returns the values that one operation reads.
type Row interface {
	Run(count int) int
	Show() string
}

// Fail prints the error and ends the program.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
	os.Exit(1)
}

// Must returns the value of a call, or ends the program if it has failed.
func Must[T any](value T, err error) T {
	if err != nil {
		Fail(err)
	}
	return value
}

// Get makes a GET as documented in net/http, and parses the answer.
func Get(client *http.Client, url string, out any) {
	request := Must(http.NewRequest("GET", url, nil))
	request.Header.Set("X-API-KEY", "key_bench_0123456789")
	request.Header.Set("Accept", "application/json")
	response := Must(client.Do(request))
	defer response.Body.Close()
	body := Must(io.ReadAll(response.Body))
	if response.StatusCode != http.StatusOK {
		Fail(fmt.Errorf("status %s", response.Status))
	}
	if err := json.Unmarshal(body, out); err != nil {
		Fail(err)
	}
}

func cpuTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		Fail(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// Serve executes the command on each line of stdin until stdin ends. Serve makes each Row on first use and then reuses
// the Row.
func Serve(newRow func(baseURL string, atOnce int) Row) {
	rows := map[string]Row{}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var verb, url string
		var atOnce, count, warm int
		// a line with "show" has no counts
		if _, err := fmt.Sscan(lines.Text(), &verb, &url, &atOnce, &count, &warm); err != nil && verb != "show" {
			Fail(err)
		}
		key := fmt.Sprint(url, " ", atOnce)
		if rows[key] == nil {
			rows[key] = newRow(url, atOnce)
		}
		row := rows[key]
		if verb == "show" {
			fmt.Println(row.Show())
			continue
		}
		row.Run(warm)
		start, cpu := time.Now(), cpuTime()
		total := row.Run(count)
		fmt.Println(time.Since(start).Nanoseconds(), cpuTime()-cpu, total)
	}
}
