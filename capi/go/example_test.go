package billcore_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	billcore "billcore.example/go"
)

// service starts a fake billing service for the examples.
func service() *httptest.Server {
	const order = `{"id":"ord_1","total":1500,"state":"paid"}`
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusPaymentRequired)
			fmt.Fprint(w, `{"error":{"code":"charge_declined","message":"the payment was declined"}}`)
		case r.URL.Path == "/acct/order/ord_1":
			fmt.Fprintf(w, `{"data":%s}`, order)
		default:
			fmt.Fprintf(w, `{"data":[%s],"pagination":{"total":1,"count":1,"per_page":10,"current_page":1,"total_pages":1,"links":{}}}`, order)
		}
	}))
}

func connect(service *httptest.Server) *billcore.Client {
	client, err := billcore.NewClient(billcore.WithBaseURL(service.URL+"/acct"), billcore.WithAPIKey("key"))
	if err != nil {
		panic(err)
	}
	return client
}

func ExampleSubscriptions_Orders() {
	service := service()
	defer service.Close()
	client := connect(service)
	defer client.Close()
	for order, err := range client.Subscriptions().Orders(context.Background(), "sub_1").All() {
		if err != nil {
			fmt.Println(err)
			return
		}
		total, err := order.Total()
		fmt.Println(order, total, err)
	}
	// Output: Order(id="ord_1", state="paid") 1500 <nil>
}

func ExampleSubscriptions_Charge() {
	service := service()
	defer service.Close()
	client := connect(service)
	defer client.Close()
	_, err := client.Subscriptions().Charge(context.Background(), "sub_1", 102, 1500, billcore.ChargeDescription("Extra night"))
	switch {
	case errors.Is(err, billcore.ErrOutcomeUnknown):
		orders, err := client.Subscriptions().FindCharges(context.Background(), err)
		fmt.Println("perhaps charged:", orders, err)
	case errors.Is(err, billcore.ErrPayment):
		var refusal *billcore.Error
		errors.As(err, &refusal)
		fmt.Println("refused:", refusal.APIMessage)
	}
	// Output: refused: the payment was declined
}

func ExampleOrders_Get() {
	service := service()
	defer service.Close()
	client := connect(service)
	defer client.Close()
	order, err := client.Orders().Get(context.Background(), "ord_1")
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := order.State()
	fmt.Println(state == billcore.OrderStatePaid, err)
	_, err = order.Currency()
	fmt.Println(errors.Is(err, billcore.ErrMissingField), err)
	// Output:
	// true <nil>
	// true billcore: data.currency is absent
}
