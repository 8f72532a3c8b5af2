package main

import (
	"context"
	"net/url"

	"billcore"
)

// control calls the sandbox's control routes, which need no API key.
type control struct{ client *billcore.Client }

func newControl(address string) control {
	return control{must(billcore.NewClient(billcore.WithBaseURL(address), billcore.WithAPIKey("none")))}
}

func (c control) post(path string, body any) {
	must(c.client.Request(context.Background(), "POST", path, billcore.RequestJSON(body)))
}

func (c control) get(path string, into any) {
	check(must(c.client.Request(context.Background(), "GET", path)).JSON(into))
}

func (c control) reset() { c.post("/reset", struct{}{}) }

func (c control) renew(id billcore.ID) {
	c.post("/subscriptions/"+url.PathEscape(string(id))+"/renew", struct{}{})
}

func (c control) loseTheNextChargeAnswer() {
	c.post("/faults", map[string]string{"kind": "reset_after", "method": "POST", "path": "/subscription/*/order"})
}

// secret returns the secret of an endpoint. The real service shows the secret only in its admin UI; the sandbox
// returns it through a control route.
func (c control) secret(endpoint string) string {
	var answer struct {
		Endpoints []struct{ URL, Secret string }
	}
	c.get("/endpoints", &answer)
	for _, one := range answer.Endpoints {
		if one.URL == endpoint {
			return one.Secret
		}
	}
	return ""
}

func (c control) charges() (count int) {
	var answer struct {
		Effects []struct{ Kind string }
	}
	c.get("/ledger", &answer)
	for _, one := range answer.Effects {
		if one.Kind == "charge" {
			count++
		}
	}
	return count
}
