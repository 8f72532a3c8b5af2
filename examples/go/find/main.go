package main

import (
	"context"
	"fmt"
	"os"

	billcore "billcore.example/go"
)

func find(ctx context.Context, reference string) error {
	client, err := billcore.NewClient() // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
	if err != nil {
		return err
	}
	defer client.Close()
	found := false
	for subscription, err := range client.Subscriptions().List(ctx, billcore.ListReferenceID(reference)).All() {
		if err != nil {
			return err
		}
		id, err := subscription.ID()
		if err != nil {
			return err
		}
		status, err := subscription.Status()
		if err != nil {
			return err
		}
		fmt.Println(id, status)
		found = true
	}
	if !found {
		return fmt.Errorf("no subscription has this reference_id")
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: find REFERENCE_ID")
		os.Exit(2)
	}
	if err := find(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
