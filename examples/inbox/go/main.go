// A receiver of order.paid with PostgreSQL. Usage: receiver ADDRESS
package main

import (
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"

	"billcore/webhook"
	_ "github.com/lib/pq"
)

func main() {
	verifier, noVerifier := webhook.NewVerifier([]byte(os.Getenv("WEBHOOK_SECRET")))
	db, noDB := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err := errors.Join(noVerifier, noDB); err != nil || len(os.Args) != 2 {
		log.Fatal(errors.Join(errors.New("usage: receiver ADDRESS, such as localhost:8000"), err))
	}
	http.Handle("/webhooks", verifier.Handler(func(w http.ResponseWriter, _ *http.Request, event *webhook.Event) {
		if event.Type() != webhook.EventOrderPaid {
			return
		}
		err := once(db, event, func(tx *sql.Tx) error {
			order, noOrder := event.Order()
			id, noID := order.ID()
			_, failed := tx.Exec("INSERT INTO paid_orders (id) VALUES ($1)", string(id))
			return errors.Join(noOrder, noID, failed)
		})
		if errors.Is(err, webhook.ErrDecode) {
			http.Error(w, "not an event that can be kept", http.StatusBadRequest)
		} else if err != nil {
			log.Print(err)
			http.Error(w, "try again", http.StatusServiceUnavailable)
		}
	}))
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
