// A receiver of order.paid with PostgreSQL. Usage: receiver ADDRESS
package main

import (
	"bytes"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"billcore.example/go/webhook"
	_ "github.com/lib/pq"
)

func main() {
	secrets := bytes.Split([]byte(os.Getenv("WEBHOOK_SECRET")), []byte(",")) // during a rotation "new,old"
	verifier, noVerifier := webhook.NewVerifier(nil, webhook.WithMoreSecrets(secrets...))
	db, noDB := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err := errors.Join(noVerifier, noDB); err != nil || len(os.Args) != 2 {
		log.Fatal(errors.Join(errors.New("usage: receiver ADDRESS, such as localhost:8000"), err))
	}
	http.Handle("/webhooks", verifier.Handler(func(w http.ResponseWriter, r *http.Request, event *webhook.Event) {
		if event.Type() == webhook.EventTestHook { // every test.hook has the id 0
			return
		}
		if err := once(r.Context(), db, event, paid); err != nil {
			log.Print(err)
			http.Error(w, "try again", http.StatusServiceUnavailable)
		}
	}))
	server := http.Server{Addr: os.Args[1], ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
