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

func read(folder, name string) []byte {
	out, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		turns.Fail(err)
	}
	return out
}

// byHand uses only the standard library: it reuses one hmac, compares in constant time, and decodes into a struct
// with encoding/json.
func byHand(operation string, given delivery) func() (int, error) {
	var mac hash.Hash = hmac.New(sha256.New, given.secret)
	verify := func() (int, error) {
		signature, err := hex.DecodeString(given.signature)
		if err != nil {
			return 0, err
		}
		mac.Reset()
		mac.Write(given.body)
		var sum [sha256.Size]byte
		if !hmac.Equal(mac.Sum(sum[:0]), signature) {
			return 0, errors.New("mismatch")
		}
		return len(given.body), nil
	}
	switch operation {
	case "verify":
		return verify
	case "unwrap":
		return func() (int, error) {
			if _, err := verify(); err != nil {
				return 0, err
			}
			var out event
			err := json.Unmarshal(given.body, &out)
			return len(strconv.Itoa(out.ID)) + len(out.Name) + len(out.Data.Status), err
		}
	}
	return nil
}

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

// serveWebhook gets OPERATION:FOLDER in place of a URL; FOLDER contains the files of a delivery.
func serveWebhook(name string) {
	contenders := map[string]func(string, delivery) func() (int, error){"billcore": billcoreOf, "std": byHand}
	turns.Serve(func(place string, _ int) turns.Row {
		operation, folder, _ := strings.Cut(place, ":")
		once := contenders[name](operation, delivery{read(folder, "body"), string(read(folder, "signature")), read(folder, "secret")})
		if once == nil {
			turns.Fail(fmt.Errorf("%s has no %s", name, operation))
		}
		return &row{once}
	})
}
