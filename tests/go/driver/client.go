package main

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	billcore "billcore.example/go"
)

// timeout returns the option for a time-out in seconds; null: no time-out.
func timeout(given json.RawMessage) []billcore.Option {
	if string(given) == "null" {
		return []billcore.Option{billcore.WithNoTimeout()}
	}
	if seconds, ok := decode[float64](given); ok {
		return []billcore.Option{billcore.WithTimeout(time.Duration(math.Round(seconds*1000)) * time.Millisecond)}
	}
	return nil
}

func connect(given json.RawMessage) (*billcore.Client, error) {
	from, _ := decode[map[string]json.RawMessage](given)
	var options []billcore.Option
	text := func(name string, with func(string) billcore.Option) {
		if value, ok := decode[string](from[name]); ok {
			options = append(options, with(value))
		}
	}
	text("base_url", billcore.WithBaseURL)
	text("api_key", billcore.WithAPIKey)
	text("ca_bundle", billcore.WithCABundle)
	text("client_certificate", billcore.WithClientCertificate)
	text("request_id_header", billcore.WithRequestIDHeader)
	if proxy, ok := decode[string](from["proxy"]); ok && proxy == "" {
		options = append(options, billcore.WithNoProxy())
	} else if ok {
		options = append(options, billcore.WithProxy(proxy))
	}
	options = append(options, timeout(from["timeout"])...)
	if retries, ok := decode[int](from["max_retries"]); ok {
		options = append(options, billcore.WithMaxRetries(retries))
	}
	concurrency, ok := decode[int](from["concurrency"])
	if !ok {
		concurrency = 1 // one request at a time, so that canned answers keep their order
	}
	options = append(options, billcore.WithConcurrency(concurrency))
	headers := json.NewDecoder(strings.NewReader(string(from["headers"])))
	if token, err := headers.Token(); err == nil && token == json.Delim('{') {
		for headers.More() { // read token by token: a map would lose the order of the headers
			var value string
			name, _ := headers.Token()
			if err := headers.Decode(&value); err != nil {
				return nil, err
			}
			options = append(options, billcore.WithHeader(name.(string), value))
		}
	}
	if on, ok := decode[bool](from["http2"]); ok {
		options = append(options, billcore.WithHTTP2(on))
	}
	if on, _ := decode[bool](from["allow_insecure_http"]); on {
		options = append(options, billcore.WithAllowInsecureHTTP())
	}
	if bytes, ok := decode[int64](from["max_response"]); ok {
		options = append(options, billcore.WithMaxResponse(bytes))
	}
	return billcore.NewClient(options...)
}

type raws interface {
	Raw() (json.RawMessage, error)
}

func rawOf[T raws](record T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return record.Raw()
}

func answered(response *billcore.Response, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	headers := [][2]string{}
	for name, values := range response.Header {
		for _, value := range values {
			headers = append(headers, [2]string{strings.ToLower(name), value})
		}
	}
	return object{"status": response.Status, "headers": headers, "body": string(response.Body)}, nil
}

// members returns the members of a JSON object in their order.
func members(raw json.RawMessage) (names []string, values []json.RawMessage) {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, nil
	}
	for decoder.More() {
		var value json.RawMessage
		name, _ := decoder.Token()
		if decoder.Decode(&value) != nil {
			break
		}
		names, values = append(names, name.(string)), append(values, value)
	}
	return names, values
}

func init() {
	operations["products.update"] = update
	operations["request"] = send
}

// update changes a product: for each field it calls the typed function, or ProductField if the value has another type.
func update(c *billcore.Client, r *request) (any, error) {
	var changes []billcore.ProductChange
	names, values := members(r.Args["fields"])
	typed := map[string]func(string) billcore.ProductChange{
		"name": billcore.ProductName, "description": billcore.ProductDescription, "currency": billcore.ProductCurrency,
		"interval": billcore.ProductInterval,
	}
	for i, name := range names {
		text, isText := decode[string](values[i])
		cents, isInteger := decode[int64](values[i])
		number, isNumber := decode[json.Number](values[i])
		switch {
		case isText && typed[name] != nil:
			changes = append(changes, typed[name](text))
		case isInteger && name == "price":
			changes = append(changes, billcore.ProductPrice(cents))
		case isNumber && !isText && name == "vat_rate":
			changes = append(changes, billcore.ProductVATRate(number.String()))
		default:
			changes = append(changes, billcore.ProductField(name, values[i]))
		}
	}
	return rawOf(c.Products().Update(background, r.integer("id"), changes...))
}

func send(c *billcore.Client, r *request) (any, error) {
	var options []billcore.RequestOption
	names, values := members(r.Args["query"])
	for i, name := range names {
		value, ok := decode[string](values[i])
		if !ok {
			value = string(values[i])
		}
		options = append(options, billcore.RequestQuery(name, value))
	}
	if body := r.Args["json"]; body != nil {
		options = append(options, billcore.RequestJSON(body))
	}
	if raise, ok := decode[bool](r.Args["raise_on_error"]); ok && !raise {
		options = append(options, billcore.RequestAcceptAllStatuses())
	}
	return answered(c.Request(background, r.text("method"), r.text("path"), options...))
}

// `read` reads a list in the way that the request's `take` names.
func read[T raws](r *request, list *billcore.List[T]) (any, error) {
	defer list.Close()
	items := []any{}
	way, _ := decode[string](r.Take)
	limit, limited := decode[int](r.Take)
	failed := func(err error) (any, error) {
		standing, _ := list.Standing()
		return nil, &listing{err, items, standing.State}
	}
	keep := func(record T) error {
		raw, err := record.Raw()
		items = append(items, raw)
		return err
	}
	if way == "first" || way == "first-all" {
		record, found, err := list.First()
		if err == nil && found && way == "first" {
			err = keep(record)
		}
		if err != nil {
			return failed(err)
		}
	}
	switch {
	case way == "first":
	case way == "pages":
		for page, err := range list.Pages() {
			if err != nil {
				return failed(err)
			}
			for _, record := range page.Items {
				if err := keep(record); err != nil {
					return failed(err)
				}
			}
		}
	case limited && limit == 0:
		if err := list.Stop(); err != nil {
			return failed(err)
		}
	default:
		for record, err := range list.All() {
			if err == nil {
				err = keep(record)
			}
			if err != nil {
				return failed(err)
			}
			if limited && len(items) == limit {
				break
			}
		}
	}
	standing, err := list.Standing()
	if err != nil {
		return failed(err)
	}
	out := object{"items": items, "verdict": nil, "reason": nil, "total": nil, "fetched_pages": standing.FetchedPages, "state": standing.State}
	if standing.HasTotal {
		out["total"] = standing.Total
	}
	if standing.HasVerdict {
		out["verdict"] = "complete"
		if !standing.Complete {
			out["verdict"], out["reason"] = "possibly_missed", standing.Reason
		}
	}
	return out, nil
}
