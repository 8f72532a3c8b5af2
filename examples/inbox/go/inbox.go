package main

import (
	"database/sql"
	"errors"

	"billcore/webhook"
)

// In Python, billcore.inbox.schema("postgresql") returns the SQL of this table.
const claim = `INSERT INTO billcore_inbox (consumer, account, id, name, received_at)
	VALUES ('default', $1, $2, $3, CURRENT_TIMESTAMP) ON CONFLICT (consumer, account, id) DO NOTHING`

// once claims the event and applies its effect in one transaction, unless the event was handled before.
func once(db *sql.DB, event *webhook.Event, effect func(tx *sql.Tx) error) error {
	account, noAccount := event.Account()
	id, noID := event.ID()
	name, noName := event.Name()
	if err := errors.Join(noAccount, noID, noName); err != nil {
		return err
	}
	tx, err := db.Begin()
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
	if err := effect(tx); err != nil {
		return err
	}
	return tx.Commit()
}
