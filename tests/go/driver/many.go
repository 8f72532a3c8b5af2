package main

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"time"

	billcore "billcore.example/go"
)

func init() {
	operations["subscriptions.get_many"] = getMany(func(c *billcore.Client) manyOf[billcore.ID, billcore.Subscription] { return c.Subscriptions().GetMany })
	operations["products.get_many"] = getMany(func(c *billcore.Client) manyOf[int64, billcore.Product] { return c.Products().GetMany })
	operations["orders.get_many"] = getMany(func(c *billcore.Client) manyOf[billcore.ID, billcore.Order] { return c.Orders().GetMany })
}

type manyOf[I billcore.ID | int64, T raws] func(context.Context, iter.Seq[I], ...billcore.ManyOption) iter.Seq2[billcore.Got[I, T], error]

// getMany returns the driver's operation for a method GetMany.
func getMany[I billcore.ID | int64, T raws](method func(*billcore.Client) manyOf[I, T]) func(*billcore.Client, *request) (any, error) {
	return func(c *billcore.Client, r *request) (any, error) {
		given, _ := decode[[]json.RawMessage](r.Args["ids"])
		shown := map[I]json.RawMessage{} // the ids as given: text or integer
		ids := func(yield func(I) bool) {
			for _, raw := range given {
				id, ok := decode[I](raw)
				if !ok { // the number of a record whose id is a text in Go
					id, _ = any(billcore.ID(raw)).(I)
				}
				if shown[id] = raw; !yield(id) {
					return
				}
			}
		}
		var options []billcore.ManyOption
		if concurrency, ok := decode[int](r.Args["concurrency"]); ok {
			options = append(options, billcore.ManyConcurrency(concurrency))
		}
		if ordered, ok := decode[bool](r.Args["ordered"]); ok && !ordered {
			options = append(options, billcore.ManyUnordered())
		}
		ctx := background
		if seconds, ok := decode[float64](r.TotalTimeout); ok {
			late, cancel := context.WithTimeout(background, time.Duration(math.Round(seconds*1000))*time.Millisecond)
			defer cancel()
			ctx = late
		}
		out := []any{}
		for got, err := range method(c)(ctx, ids, options...) {
			var none I
			if err != nil && (got.ID == none || errors.Is(err, context.DeadlineExceeded)) {
				return nil, &listing{err, out, ""}
			}
			row := object{"id": shown[got.ID]}
			if err != nil {
				row["error"] = described(err)
			} else if row["ok"], err = got.Value.Raw(); err != nil {
				return nil, err
			}
			out = append(out, row)
		}
		return out, nil
	}
}
