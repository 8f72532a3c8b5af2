// The Go contenders: billcore, and net/http, crypto/hmac and encoding/json used by hand. Usage: turns-go
// rest|pages|webhook ROW [CA_FILE], with commands of the protocol of turns.py on stdin.
package main

import (
	"fmt"
	"os"
	"sync"

	"bench/turns"
)

// together runs work in atOnce goroutines, and returns the sum of what they return.
func together(atOnce int, work func() int) int {
	totals := make([]int, atOnce)
	var all sync.WaitGroup
	for i := range totals {
		all.Add(1)
		go func(own *int) {
			defer all.Done()
			*own = work()
		}(&totals[i])
	}
	all.Wait()
	total := 0
	for _, one := range totals {
		total += one
	}
	return total
}

func main() {
	switch os.Args[1] {
	case "rest":
		serveRest(os.Args[2], os.Args[3])
	case "pages":
		servePages(os.Args[2])
	case "webhook":
		serveWebhook(os.Args[2])
	default:
		turns.Fail(fmt.Errorf("there is no area %s", os.Args[1]))
	}
}
