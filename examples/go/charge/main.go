package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	billcore "billcore.example/go"
)

func charge(ctx context.Context, id billcore.ID, product, cents int64) error {
	client, err := billcore.NewClient() // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
	if err != nil {
		return err
	}
	defer client.Close()
	order, err := client.Subscriptions().Charge(ctx, id, product, cents)
	if errors.Is(err, billcore.ErrOutcomeUnknown) { // the charge may have been made: check the orders before a new charge
		found, lookup := client.Subscriptions().FindCharges(ctx, err)
		if lookup != nil {
			return errors.Join(err, lookup)
		}
		return fmt.Errorf("%w; %d orders were made since then", err, len(found))
	}
	if err != nil {
		return err // errors.Is(err, billcore.ErrPayment): the service refused the charge
	}
	total, err := order.Total()
	withVAT, err2 := order.TotalWithVAT()
	fmt.Printf("charged %d cents, %d with VAT\n", total, withVAT)
	return errors.Join(err, err2)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: charge SUBSCRIPTION PRODUCT CENTS_WITHOUT_VAT")
		os.Exit(2)
	}
	product, err := strconv.ParseInt(os.Args[2], 10, 64)
	cents, err2 := strconv.ParseInt(os.Args[3], 10, 64)
	if err = errors.Join(err, err2); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = charge(ctx, billcore.ID(os.Args[1]), product, cents)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
