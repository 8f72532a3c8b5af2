package billcoretests

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	billcore "billcore.example/go"
	"billcore.example/go/billcoretest"
)

// object decodes a JSON object, with the digits of its numbers. Instants in RFC 3339 become times in UTC.
func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for name, value := range out {
		written, _ := value.(string)
		if at, err := time.Parse(time.RFC3339, written); err == nil {
			out[name] = at.UTC()
		}
	}
	return out
}

// The struct of a record has every field of its JSON, with the same values.
func TestFields(t *testing.T) {
	account := billcoretest.NewAccount(t)
	client := client(t, account)
	subscription := must(client.Subscriptions().Get(background, account.IDs.Subscriptions["demo-active"]))
	product := must(client.Products().Get(background, account.IDs.Products["one_time"]))
	order := must(client.Subscriptions().Charge(background, account.IDs.Subscriptions["demo-active"], must(product.ID()), 1500))
	for name, pair := range map[string][2]any{
		"subscription": {subscription, must(subscription.Fields())}, "product": {product, must(product.Fields())},
		"order": {order, must(order.Fields())},
	} {
		want, got := object(t, must(json.Marshal(pair[0]))), object(t, must(json.Marshal(pair[1])))
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
		for field, value := range got {
			if !reflect.DeepEqual(value, want[field]) {
				t.Errorf("%s.%s: %v, not %v", name, field, value, want[field])
			}
		}
	}
	if renews := must(subscription.Fields()).RenewsAt; renews == nil || renews.IsZero() || must(order.Fields()).Total != 1500 {
		t.Error(renews)
	}
	reduced := connect(t, serve(t, wrapped(`{"id":"ord_1","created_at":"2025-04-25T09:30:00+02:00"}`)).URL)
	_, err := must(reduced.Orders().Get(background, "ord_1")).Fields()
	if found := code(t, err, billcore.ErrMissingField); found.FieldPath != "total" && found.FieldPath != "data.total" {
		t.Error(found.FieldPath)
	}
}
