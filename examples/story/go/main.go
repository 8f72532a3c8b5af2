// The story: a program that shows the life of a subscription. The sibling folders contain it in other languages.
//
// The program needs a running sandbox (examples/quickstart.sh starts one), which it finds through the environment
// variables BILLCORE_BASE_URL, BILLCORE_API_KEY and BILLCORE_SANDBOX_CONTROL. It exits with status 1 if a check
// fails.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"billcore"
	"billcore/webhook"
)

var ctx = context.Background()

type failure struct{ error }

// check ends the program if err is not nil. must() does the same, and returns the result if err is nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](result T, err error) T {
	check(err)
	return result
}

func expect(truth bool, claim string) {
	if !truth {
		check(errors.New("check failed: " + claim))
	}
}

func step(number int, title string)       { fmt.Printf("%2d. %s\n", number, title) }
func say(format string, arguments ...any) { fmt.Printf("    "+format+"\n", arguments...) }
func money(cents int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
}

func listProducts(client *billcore.Client) (products []billcore.Product) {
	step(1, "List the products")
	list := client.Products().List(ctx)
	defer list.Close()
	for product, err := range list.All() {
		products = append(products, product)
		check(err)
	}
	standing := must(list.Standing())
	verdict := "possibly missed"
	if standing.Complete {
		verdict = "complete"
	}
	say("%d products on %d pages; the list is %s", len(products), standing.FetchedPages, verdict)
	expect(standing.FetchedPages > 1, "the products fill several pages")
	expect(int64(len(products)) == standing.Total, "every product was listed")
	expect(standing.Complete, "the list did not move while it was read")
	return products
}

func findSubscription(client *billcore.Client, reference string) billcore.Subscription {
	list := client.Subscriptions().List(ctx, billcore.ListReferenceID(reference))
	defer list.Close()
	found, any, err := list.First()
	check(err)
	expect(any, "there is a subscription with the reference id "+reference)
	own, _, err := found.ReferenceID()
	check(err)
	expect(own == reference, "it has the reference id "+reference)
	return found
}

func findByReference(client *billcore.Client) billcore.Subscription {
	step(2, "Find a subscription by its reference id")
	found := findSubscription(client, "demo-active")
	status := must(found.Status())
	say("demo-active is subscription %s: %s, %s", must(found.ID()), status, money(must(found.Price()), must(found.Currency())))
	expect(status == billcore.SubscriptionStatusActive, "the subscription is active")
	return found
}

func readOrders(client *billcore.Client, id billcore.ID) {
	step(3, "Read its orders in two states")
	list := client.Subscriptions().Orders(ctx, id, billcore.ListPerPage(10),
		billcore.ListState(billcore.OrderStatePaid, billcore.OrderStateConfirmed))
	defer list.Close()
	states := map[billcore.OrderState]int{}
	for order, err := range list.All() {
		check(err)
		states[must(order.State())]++
	}
	paid, confirmed := states[billcore.OrderStatePaid], states[billcore.OrderStateConfirmed]
	say("%d paid and %d confirmed orders on %d pages", paid, confirmed, must(list.Standing()).FetchedPages)
	expect(paid > 0 && confirmed > 0 && len(states) == 2, "there are orders in these two states, and no others were listed")
}

func registerEndpoint(client *billcore.Client, control control, url string) string {
	step(4, "Register a webhook endpoint")
	answer := must(client.WebhookEndpoints().Create(ctx, url))
	secret := control.secret(url)
	say("answered %d; its secret has %d characters", answer.Status, len(secret))
	expect(len(secret) == 32, "the endpoint has a secret of 32 characters")
	return secret
}

func charge(client *billcore.Client, id billcore.ID, product int64) billcore.Order {
	step(5, "Charge")
	order := must(client.Subscriptions().Charge(ctx, id, product, 1500, billcore.ChargeDescription("Extra night")))
	total, gross, currency := must(order.Total()), must(order.TotalWithVAT()), must(order.Currency())
	say("order %s: %s, %s with VAT, %s", must(order.ID()), money(total, currency), money(gross, currency), must(order.State()))
	expect(total == 1500 && gross == 1875, "the order has the amount charged, plus 25 % VAT")
	again := must(client.Orders().Get(ctx, must(order.ID())))
	expect(must(again.Equal(order)), "the order can be read again")
	return order
}

func beRefused(client *billcore.Client, product int64) {
	step(6, "Handle a refused charge")
	declined := findSubscription(client, "demo-declined")
	_, err := client.Subscriptions().Charge(ctx, must(declined.ID()), product, 1500)
	var refusal *billcore.Error
	expect(errors.Is(err, billcore.ErrPayment) && errors.As(err, &refusal), "the charge on demo-declined is refused")
	say("PaymentError, status %d, code %s: %s", refusal.HTTPStatus, refusal.APICode, refusal.APIMessage)
	expect(refusal.HTTPStatus == 402 && !refusal.OutcomeUnknown, "a refusal is 402, and final")
}

func loseAnAnswer(client *billcore.Client, control control, id billcore.ID, product int64) billcore.Order {
	step(7, "Lose the answer to a charge")
	control.loseTheNextChargeAnswer()
	_, err := client.Subscriptions().Charge(ctx, id, product, 2700)
	var lost *billcore.Error
	expect(errors.Is(err, billcore.ErrOutcomeUnknown) && errors.As(err, &lost),
		"a connection reset instead of an answer leaves the outcome unknown")
	say("OutcomeUnknownError: %s %s was sent, but not answered", lost.Method, lost.Path)
	// Look for the order before a new charge. FindCharges returns the orders made since the charge: the order of the
	// charge, and perhaps others.
	var found []billcore.Order
	for _, order := range must(client.Subscriptions().FindCharges(ctx, err)) {
		if must(order.Total()) == 2700 {
			found = append(found, order)
		}
	}
	expect(len(found) == 1, "the order list shows the charge once")
	order := found[0]
	say("the order list shows it: order %s, %s, %s", must(order.ID()), money(must(order.Total()), must(order.Currency())), must(order.State()))
	expect(control.charges() == 2, "the service made two charges in total: nothing was sent twice")
	return order
}

func changeProduct(client *billcore.Client, subscription billcore.Subscription, products []billcore.Product) {
	step(8, "Change the product")
	price, currency := must(subscription.Price()), must(subscription.Currency())
	for _, plan := range products {
		interval, _, err := plan.Interval()
		check(err)
		if must(plan.Type()) != "subscription" || interval != "month" || must(plan.Currency()) != currency || must(plan.PriceWithoutVAT()) == price {
			continue
		}
		changed := must(client.Subscriptions().ChangeProduct(ctx, must(subscription.ID()), must(plan.ID())))
		say("%s: %s instead of %s", must(plan.Name()), money(must(changed.Price()), must(changed.Currency())), money(price, currency))
		expect(must(changed.Price()) == must(plan.PriceWithoutVAT()), "the subscription has the new product's price")
		return
	}
	expect(false, "there is another monthly product")
}

func renew(client *billcore.Client, control control, subscription billcore.Subscription) {
	step(9, "Renew")
	id := must(subscription.ID())
	control.renew(id)
	before, known, err := subscription.RenewsAt()
	check(err)
	after, knownNow, err := must(client.Subscriptions().Get(ctx, id)).RenewsAt()
	check(err)
	expect(known && knownNow, "an active subscription says when it renews")
	say("renews at %s instead of %s", after.Format(time.DateOnly), before.Format(time.DateOnly))
	expect(after.After(before), "renews_at has moved forward")
}

func cancel(client *billcore.Client, id billcore.ID) {
	step(10, "Cancel")
	cancelled := must(client.Subscriptions().Cancel(ctx, id))
	ends, known, err := cancelled.EndsAt()
	check(err)
	expect(known, "a cancelled subscription says when it ends")
	say("%s; paid, so usable until %s", must(cancelled.Status()), ends.Format(time.DateOnly))
	expect(must(cancelled.Status()) == billcore.SubscriptionStatusCancelled, "the subscription is cancelled")
	expect(must(cancelled.UsableAt(time.Now())), "what has been paid for can still be used")
}

var expected = map[webhook.EventType]int{
	webhook.EventOrderConfirmed:        3, // one event for each of the two charges, one for the renewal
	webhook.EventOrderPaid:             3,
	webhook.EventSubscriptionUpdated:   1,
	webhook.EventSubscriptionRenewed:   1,
	webhook.EventSubscriptionCancelled: 1,
}

func receiveEvents(inbox *inbox, id billcore.ID, charged ...billcore.Order) {
	step(11, "Receive the events")
	all := 0
	for _, count := range expected {
		all += count
	}
	events := inbox.events(all)
	seen := map[webhook.EventType]int{}
	paid := map[billcore.ID]int64{}
	for _, event := range events {
		say("%s %s", must(event.ID()), must(event.Name()))
		seen[event.Type()]++
		switch event.Type() {
		case webhook.EventOrderPaid:
			order := must(event.Order())
			paid[must(order.ID())] = must(order.Total())
		case webhook.EventSubscriptionCancelled:
			ended := must(event.Subscription())
			expect(must(ended.ID()) == id && must(ended.Status()) == billcore.SubscriptionStatusCancelled, "the right one was cancelled")
		}
	}
	for kind, count := range expected {
		expect(seen[kind] == count && len(events) == all, "each event has arrived, and has been kept once")
	}
	for _, order := range charged {
		expect(paid[must(order.ID())] == must(order.Total()), "each charge has its order.paid, with its total")
	}
	first := must(events[0].ID())
	expect(len(inbox.duplicates) == 1 && inbox.duplicates[0] == first, "only the first event was redelivered")
	say("all verified; %s was answered 500, redelivered, and dropped", first)
}

func refuseAForgery(inbox *inbox) {
	step(12, "Refuse a forged event")
	body := inbox.bodies[0]
	request := must(http.NewRequestWithContext(ctx, http.MethodPost, inbox.url(), bytes.NewReader(body)))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(webhook.DefaultHeader, must(webhook.Sign(body, []byte("a guess of thirty-two characters"))))
	answer := must(http.DefaultClient.Do(request))
	answer.Body.Close()
	say("answered %d: %s", answer.StatusCode, strings.Join(inbox.refused, ", "))
	expect(answer.StatusCode == 401 && len(inbox.refused) == 1 && inbox.refused[0] == "mismatch", "a wrong signature is refused")
}

func tell() {
	address := os.Getenv("BILLCORE_SANDBOX_CONTROL")
	expect(address != "", "BILLCORE_SANDBOX_CONTROL is set")
	control := newControl(address)
	control.reset()
	client := must(billcore.NewClient())
	defer client.Close()
	inbox := newInbox()
	defer inbox.server.Close()
	products := listProducts(client)
	var oneTime int64
	for _, product := range products {
		if oneTime == 0 && must(product.Type()) == "one_time" {
			oneTime = must(product.ID())
		}
	}
	subscription := findByReference(client)
	id := must(subscription.ID())
	readOrders(client, id)
	inbox.trust(registerEndpoint(client, control, inbox.url()))
	first := charge(client, id, oneTime)
	beRefused(client, oneTime)
	second := loseAnAnswer(client, control, id, oneTime)
	changeProduct(client, subscription, products)
	renew(client, control, subscription)
	cancel(client, id)
	receiveEvents(inbox, id, first, second)
	refuseAForgery(inbox)
}

func main() {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			fmt.Fprintln(os.Stderr, "story:", failed.error)
			os.Exit(1)
		default:
			panic(failed)
		}
	}()
	fmt.Println("The life of a subscription, in Go")
	tell()
	fmt.Println("Done: every step succeeded.")
}
