package main

import (
	"database/sql"
	"errors"

	"billcore.example/go/webhook"
)

// paid is the effect of order.paid; other events have none. The data may lack fields: then there is nothing to record.
func paid(tx *sql.Tx, event *webhook.Event) error {
	order, noOrder := event.Order()
	id, noID := order.ID()
	if event.Type() != webhook.EventOrderPaid || errors.Join(noOrder, noID) != nil {
		return nil
	}
	_, err := tx.Exec("INSERT INTO paid_orders (id) VALUES ($1)", string(id))
	return err
}
