package main

/*
#cgo pkg-config: billcore-webhook
#include <billcore/webhook.h>

static billcore_str text(const char* data, size_t len) { return (billcore_str){data, len}; }
*/
import "C"

import (
	"context"
	"errors"
	"strconv"
	"unsafe"

	"bench/turns"
	billcore "billcore.example/go"
	"billcore.example/go/webhook"
)

func billcoreOf(operation string, given delivery) func() int {
	verifier := turns.Must(webhook.NewVerifier(given.secret))
	switch operation {
	case "call":
		id := []byte("480001")
		one := C.text((*C.char)(unsafe.Pointer(C.CBytes(id))), C.size_t(len(id)))
		other := C.text((*C.char)(unsafe.Pointer(C.CBytes(id))), C.size_t(len(id)))
		return func() int {
			if !C.billcore_same_id(one, other) {
				turns.Fail(errors.New("the ids differ"))
			}
			return 1
		}
	case "verify":
		return func() int {
			turns.Must(verifier.Verify(given.body, given.signature))
			return len(given.body)
		}
	case "unwrap":
		return func() int {
			event := turns.Must(verifier.Unwrap(given.body, given.signature))
			defer event.Close()
			subscription := turns.Must(event.Subscription())
			return len(turns.Must(event.ID())) + len(turns.Must(event.Name())) + len(turns.Must(subscription.Status()))
		}
	}
	return nil
}

type ours struct{ client *billcore.Client }

func newOurs(url string, atOnce int) turns.Row {
	return &ours{turns.Must(billcore.NewClient(billcore.WithBaseURL(url), billcore.WithAPIKey("key_bench_0123456789"),
		billcore.WithConcurrency(atOnce)))}
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
		sum += len(turns.Must(order.ID())) + int(turns.Must(order.TotalWithVAT())) + len(turns.Must(order.State()))
	}
	return sum
}

func (l *ours) Show() string { return strconv.Itoa(l.Run(1)) }
