package main

import (
	"context"
	"database/sql"
	"time"

	"billcore.example/go/webhook"
)

// In Python, billcore.inbox.schema("postgresql") returns the SQL of this table.
const claim = `INSERT INTO billcore_inbox (consumer, account, id, name, received_at)
	VALUES ('default', $1, $2, $3, CURRENT_TIMESTAMP) ON CONFLICT (consumer, account, id) DO NOTHING`

// once claims the event and applies its effect in one transaction, unless the event was handled before.
func once(ctx context.Context, db *sql.DB, event *webhook.Event, effect func(*sql.Tx, *webhook.Event) error) error {
	id, _ := event.ID() // the handler refuses events without an id, a name or an account
	name, _ := event.Name()
	account, _ := event.Account()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	result, err := tx.Exec(claim, account, string(id), name)
	if err != nil {
		return err
	}
	if first, err := result.RowsAffected(); err != nil || first == 0 {
		return err
	}
	if err := effect(tx, event); err != nil {
		return err
	}
	return tx.Commit()
}
