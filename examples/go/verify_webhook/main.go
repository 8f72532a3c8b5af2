package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"billcore.example/go/webhook"
)

func show(event *webhook.Event) error {
	if event.Type() == webhook.EventTestHook { // only the name of a test.hook is reliable: a server reads no other field
		fmt.Println("test.hook")
		return nil
	}
	id, err := event.ID()
	if err != nil {
		return err
	}
	name, err := event.Name()
	if err != nil {
		return err
	}
	if event.Type() != webhook.EventOrderPaid {
		fmt.Printf("event %s is %s\n", id, name)
		return nil
	}
	order, err := event.Order()
	if err != nil { // the event's name is order.paid, but its data is not an order
		fmt.Printf("event %s is %s\n", id, name)
		return nil //nolint:nilerr
	}
	number, err := order.ID()
	if err != nil {
		return err
	}
	total, err := order.Total()
	if err != nil {
		return err
	}
	fmt.Printf("event %s: order %s is paid, %d cents\n", id, number, total)
	return nil
}

func receive(body []byte, signature string) error {
	verifier, err := webhook.NewVerifier([]byte(os.Getenv("WEBHOOK_SECRET")))
	if err != nil {
		return fmt.Errorf("WEBHOOK_SECRET: %w", err)
	}
	defer verifier.Close()
	event, err := verifier.Unwrap(body, signature)
	var refused *webhook.Error
	if errors.As(err, &refused) && refused.Code == webhook.ErrSignature {
		return fmt.Errorf("refused, answer %d: %v", refused.HTTPStatus, refused.Reason)
	}
	if err != nil {
		return fmt.Errorf("signed, but not an event, answer 400: %w", err)
	}
	defer event.Close()
	return show(event)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: verify_webhook SIGNATURE < BODY")
		os.Exit(2)
	}
	body, err := io.ReadAll(io.LimitReader(os.Stdin, webhook.DefaultMaxBody+1))
	if err == nil {
		err = receive(body, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
