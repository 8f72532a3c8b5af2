package main

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	billcore "billcore.example/go"
	"billcore.example/go/model"
)

func known(err error) string {
	var failed *model.Error
	switch {
	case err == nil:
		return "made"
	case errors.As(err, &failed) && !failed.OutcomeUnknown:
		return "not-made"
	}
	return "unknown"
}

// charges charges a subscription many times at once, and prints what it knows: see tests/faults/test_killed.py.
func charges(baseURL, apiKey, subscription, product, count string) error {
	client, err := billcore.NewClient(billcore.WithBaseURL(baseURL), billcore.WithAPIKey(apiKey))
	if err != nil {
		return err
	}
	defer client.Close()
	of, err := strconv.ParseInt(product, 10, 64)
	if err != nil {
		return err
	}
	most, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		return err
	}
	for number := range most {
		fmt.Println("begin", number)
	}
	var all sync.WaitGroup
	for number := range most {
		all.Add(1)
		go func() {
			defer all.Done()
			_, err := client.Subscriptions().Charge(background, billcore.ID(subscription), of, 1000+number)
			fmt.Println("end", number, known(err))
		}()
	}
	all.Wait()
	return nil
}
