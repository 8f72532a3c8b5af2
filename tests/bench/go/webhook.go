package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bench/turns"
)

type event struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Data struct {
		Status string `json:"status"`
	} `json:"data"`
}

// delivery is one webhook as the receiver gets it.
type delivery struct {
	body      []byte
	signature string
	secret    []byte
}

func read(folder, name string) []byte { return turns.Must(os.ReadFile(filepath.Join(folder, name))) }

// byHand uses only the standard library: it reuses one hmac, compares in constant time, and decodes into a struct
// with encoding/json.
func byHand(operation string, given delivery) func() int {
	var mac hash.Hash = hmac.New(sha256.New, given.secret)
	verify := func() int {
		signature := turns.Must(hex.DecodeString(given.signature))
		mac.Reset()
		mac.Write(given.body)
		var sum [sha256.Size]byte
		if !hmac.Equal(mac.Sum(sum[:0]), signature) {
			turns.Fail(errors.New("mismatch"))
		}
		return len(given.body)
	}
	switch operation {
	case "verify":
		return verify
	case "unwrap":
		return func() int {
			verify()
			var out event
			if err := json.Unmarshal(given.body, &out); err != nil {
				turns.Fail(err)
			}
			return len(strconv.Itoa(out.ID)) + len(out.Name) + len(out.Data.Status)
		}
	}
	return nil
}

type row struct{ once func() int }

func (r *row) Run(count int) int {
	sum := 0
	for range count {
		sum += r.once()
	}
	return sum
}

func (r *row) Show() string { return strconv.Itoa(r.once()) }

// serveWebhook gets OPERATION:FOLDER in place of a URL; FOLDER contains the files of a delivery.
func serveWebhook(name string) {
	contenders := map[string]func(string, delivery) func() int{"billcore": billcoreOf, "std": byHand}
	turns.Serve(func(place string, _ int) turns.Row {
		operation, folder, _ := strings.Cut(place, ":")
		once := contenders[name](operation, delivery{read(folder, "body"), string(read(folder, "signature")), read(folder, "secret")})
		if once == nil {
			turns.Fail(fmt.Errorf("%s has no %s", name, operation))
		}
		return &row{once}
	})
}
