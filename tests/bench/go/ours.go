package main

/*
#cgo pkg-config: billcore-webhook
#include <billcore/webhook.h>

static billcore_str text(const char* data, size_t len) { return (billcore_str){data, len}; }
*/
import "C"

import (
	"context"
	"fmt"
	"strconv"
	"unsafe"

	"bench/turns"
	"billcore"
	"billcore/webhook"
)

func billcoreOf(operation string, given delivery) func() (int, error) {
	verifier, err := webhook.NewVerifier(given.secret)
	if err != nil {
		turns.Fail(err)
	}
	switch operation {
	case "call":
		id := []byte("480001")
		one := C.text((*C.char)(unsafe.Pointer(C.CBytes(id))), C.size_t(len(id)))
		other := C.text((*C.char)(unsafe.Pointer(C.CBytes(id))), C.size_t(len(id)))
		return func() (int, error) {
			if C.billcore_same_id(one, other) {
				return 1, nil
			}
			return 0, fmt.Errorf("the ids differ")
		}
	case "verify":
		return func() (int, error) {
			_, err := verifier.Verify(given.body, given.signature)
			return len(given.body), err
		}
	case "unwrap":
		return func() (int, error) { return unwrapped(verifier, given) }
	}
	return nil
}

func unwrapped(verifier *webhook.Verifier, given delivery) (int, error) {
	event, err := verifier.Unwrap(given.body, given.signature)
	if err != nil {
		return 0, err
	}
	defer event.Close()
	id, err := event.ID()
	if err != nil {
		return 0, err
	}
	name, err := event.Name()
	if err != nil {
		return 0, err
	}
	subscription, err := event.Subscription()
	if err != nil {
		return 0, err
	}
	status, err := subscription.Status()
	return len(id) + len(name) + len(status), err
}

type ours struct{ client *billcore.Client }

func newOurs(url string, atOnce int) turns.Row {
	client, err := billcore.NewClient(billcore.WithBaseURL(url), billcore.WithAPIKey("key_bench_0123456789"),
		billcore.WithConcurrency(atOnce))
	if err != nil {
		turns.Fail(err)
	}
	return &ours{client}
}

// Run reads the list that has `pages` pages.
func (l *ours) Run(pages int) int {
	sum := 0
	orders := l.client.Subscriptions().Orders(context.Background(), billcore.ID("sub_"+strconv.Itoa(pages)))
	defer orders.Close()
	for order, err := range orders.All() {
		if err != nil {
			turns.Fail(err)
		}
		id, err := order.ID()
		if err != nil {
			turns.Fail(err)
		}
		total, err := order.TotalWithVAT()
		if err != nil {
			turns.Fail(err)
		}
		state, err := order.State()
		if err != nil {
			turns.Fail(err)
		}
		sum += len(id) + int(total) + len(state)
	}
	return sum
}

func (l *ours) Show() string { return strconv.Itoa(l.Run(1)) }
