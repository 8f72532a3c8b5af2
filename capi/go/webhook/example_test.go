package webhook_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"billcore.example/go/webhook"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

func ExampleVerifier_Handler() {
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		panic(err)
	}
	defer verifier.Close()
	receiver := verifier.Handler(func(w http.ResponseWriter, r *http.Request, event *webhook.Event) {
		if event.Type() != webhook.EventOrderPaid {
			return // answered 200
		}
		order, err := event.Order()
		if err != nil {
			http.Error(w, "not an order", http.StatusInternalServerError)
			return
		}
		total, err := order.Total()
		fmt.Println("paid:", total, err)
	})

	const body = `{"id":7,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}`
	signature, _ := webhook.Sign([]byte(body), secret)
	request := httptest.NewRequest(http.MethodPost, "/webhooks", strings.NewReader(body))
	request.Header.Set(webhook.DefaultHeader, signature)
	answer := httptest.NewRecorder()
	receiver.ServeHTTP(answer, request)
	fmt.Println("answer:", answer.Code)
	// Output:
	// paid: 19900 <nil>
	// answer: 200
}

func ExampleExplain() {
	body := []byte(`{"name":"test.hook"}`)
	signature, _ := webhook.Sign(body, secret)
	text, err := webhook.Explain(body, "sha256="+signature, secret)
	fmt.Println(strings.Split(text, "\n")[0], err)
	// Output: Found: secret 1 of 1 gives this signature after correcting 1 fault (body of 20 bytes). <nil>
}
