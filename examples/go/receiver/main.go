// A webhook server. Usage: receiver ADDRESS. The server remembers each event before it answers, and drops an event
// that is delivered again.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"billcore.example/go/webhook"
)

// inbox records which events were received. With a database, record the event and apply its effect in one
// transaction.
type inbox struct {
	mutex   sync.Mutex
	claimed map[string]bool
}

// claim records an event, and reports whether it is new. Every test.hook has the id 0, so claim reports each as new.
func (i *inbox) claim(event *webhook.Event) (bool, error) {
	if event.Type() == webhook.EventTestHook {
		return true, nil
	}
	id, err := event.ID()
	if err != nil {
		return false, err
	}
	account, err := event.Account()
	if err != nil {
		return false, err
	}
	key := fmt.Sprintf("%d %s", account, id)
	i.mutex.Lock()
	defer i.mutex.Unlock()
	first := !i.claimed[key]
	i.claimed[key] = true
	return first, nil
}

func (i *inbox) receive(w http.ResponseWriter, _ *http.Request, event *webhook.Event) {
	first, err := i.claim(event)
	if err != nil {
		log.Print(err)
		http.Error(w, "not an event that can be kept", http.StatusBadRequest)
		return
	}
	if first {
		name, _ := event.Name()
		fmt.Println("received", name)
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: receiver ADDRESS, such as localhost:8080")
		os.Exit(2)
	}
	secrets := bytes.Split([]byte(os.Getenv("WEBHOOK_SECRET")), []byte(",")) // while a secret is being replaced: "new,old"
	verifier, err := webhook.NewVerifier(nil, webhook.WithMoreSecrets(secrets...))
	if err != nil {
		log.Fatal("WEBHOOK_SECRET: ", err)
	}
	kept := inbox{claimed: map[string]bool{}}
	refused := webhook.WithOnRefused(func(_ *http.Request, err error) { fmt.Println("refused:", err) })
	mux := http.NewServeMux()
	mux.Handle("/webhooks", verifier.Handler(kept.receive, refused))
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/webhooks\n", listener.Addr())
	server := http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
