// Runs the Go contenders of the ffi tables. Usage: ffi-go billcore|std|stripe, with commands of the protocol of turns.py
// on stdin. A command names the base URL of a list, or OPERATION:FOLDER; FOLDER contains the files of a delivery, in the
// format of webhook-bench.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bench/turns"
)

// delivery is one webhook as the receiver gets it. A contender whose library has another signature scheme signs the
// body again in this scheme.
type delivery struct {
	body      []byte
	signature string
	secret    []byte
}

func read(folder, name string) []byte {
	out, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		turns.Fail(err)
	}
	return out
}

func arrived(folder string) delivery {
	return delivery{read(folder, "900.body"), string(read(folder, "900.signature")), read(folder, "secret")}
}

// contender returns a function that performs the operation once and returns the total length of the values that it
// read; nil if the library does not have this operation.
type contender func(operation string, given delivery) func() (int, error)

var contenders = map[string]contender{"billcore": ours, "std": byHand, "stripe": stripe}

type row struct{ once func() (int, error) }

func (r *row) Run(count int) int {
	sum := 0
	for range count {
		one, err := r.once()
		if err != nil {
			turns.Fail(err)
		}
		sum += one
	}
	return sum
}

func (r *row) Show() string { return strconv.Itoa(r.Run(1)) }

func main() {
	name := "billcore"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	turns.Serve(func(url string, atOnce int) turns.Row {
		if strings.HasPrefix(url, "http") {
			return newList(url, atOnce)
		}
		operation, folder, _ := strings.Cut(url, ":")
		once := contenders[name](operation, arrived(folder))
		if once == nil {
			turns.Fail(fmt.Errorf("%s has no %s", name, operation))
		}
		return &row{once}
	})
}
