package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v82/webhook"
)

type event struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Data struct {
		Status string `json:"status"`
	} `json:"data"`
}

func (e *event) sum() int { return len(strconv.Itoa(e.ID)) + len(e.Name) + len(e.Data.Status) }

func decoded(body []byte) (int, error) {
	var out event
	err := json.Unmarshal(body, &out)
	return out.sum(), err
}

// byHand uses only the standard library: it reuses one hmac, compares in constant time, and decodes into a struct
// with encoding/json.
func byHand(operation string, given delivery) func() (int, error) {
	var mac hash.Hash = hmac.New(sha256.New, given.secret)
	verify := func() error {
		signature, err := hex.DecodeString(given.signature)
		if err != nil {
			return err
		}
		mac.Reset()
		mac.Write(given.body)
		var sum [sha256.Size]byte
		if !hmac.Equal(mac.Sum(sum[:0]), signature) {
			return errors.New("mismatch")
		}
		return nil
	}
	return measured(operation, given, verify)
}

// measured returns the operation of a library that only verifies. For "unwrap", the operation also decodes the body
// with encoding/json.
func measured(operation string, given delivery, verify func() error) func() (int, error) {
	switch operation {
	case "verify":
		return func() (int, error) { return len(given.body), verify() }
	case "unwrap":
		return func() (int, error) {
			if err := verify(); err != nil {
				return 0, err
			}
			return decoded(given.body)
		}
	}
	return nil
}

// stripe uses stripe-go. stripe-go verifies signatures over "TIME.BODY", so stripe first signs the delivery this way.
func stripe(operation string, given delivery) func() (int, error) {
	signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{
		Payload: given.body, Secret: string(given.secret), Timestamp: time.Now(),
	})
	return measured(operation, given, func() error {
		return webhook.ValidatePayloadIgnoringTolerance(given.body, signed.Header, string(given.secret))
	})
}
