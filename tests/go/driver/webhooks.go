package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"billcore.example/go/model"
	"billcore.example/go/webhook"
)

var webhookVerbs = map[string]func(*request) (any, error){
	"webhook.sign": func(r *request) (any, error) {
		signature, err := webhook.Sign(body(r), octets(r.Args["secret"]))
		return object{"signature": signature}, err
	},
	"webhook.explain": func(r *request) (any, error) {
		text, err := webhook.ExplainWithHeader(body(r), string(octets(r.Args["signature"])), header(r), secrets(r)...)
		return object{"text": text}, err
	},
	"webhook.parse_unverified": func(r *request) (any, error) {
		event, err := webhook.ParseUnverified(body(r))
		return readEvent(r, event, err)
	},
	"webhook.verify": func(r *request) (any, error) {
		return verified(r, func(v *webhook.Verifier) (any, error) {
			index, err := v.Verify(body(r), string(octets(r.Args["signature"])))
			return object{"secret_index": index}, err
		})
	},
	"webhook.unwrap": func(r *request) (any, error) {
		return verified(r, func(v *webhook.Verifier) (any, error) {
			event, err := v.Unwrap(body(r), string(octets(r.Args["signature"])))
			return readEvent(r, event, err)
		})
	},
	"webhook.unwrap_request": func(r *request) (any, error) {
		return verified(r, func(v *webhook.Verifier) (any, error) {
			event, err := v.UnwrapHeader(body(r), header(r))
			return readEvent(r, event, err)
		})
	},
	"webhook.stream": func(r *request) (any, error) {
		return verified(r, func(v *webhook.Verifier) (any, error) { return stream(r, v) })
	},
	"webhook.matches": func(r *request) (any, error) {
		return verified(r, func(v *webhook.Verifier) (any, error) { return matches(r, v) })
	},
}

func body(r *request) []byte {
	out, err := base64.StdEncoding.DecodeString(r.text("body_b64"))
	if err != nil {
		panic(err)
	}
	return out
}

func header(r *request) http.Header {
	pairs, _ := decode[[][2]json.RawMessage](r.Args["headers"])
	out := http.Header{} // filled directly, because Header.Add would change the case of the names
	for _, pair := range pairs {
		out[string(octets(pair[0]))] = append(out[string(octets(pair[0]))], string(octets(pair[1])))
	}
	return out
}

func secrets(r *request) (out [][]byte) {
	given, _ := decode[[]json.RawMessage](r.Args["secrets"])
	for _, one := range given {
		out = append(out, octets(one))
	}
	return out
}

func verified(r *request, do func(*webhook.Verifier) (any, error)) (any, error) {
	options := []webhook.Option{webhook.WithMoreSecrets(secrets(r)...)}
	if bytes, ok := decode[int64](r.Args["max_body"]); ok {
		options = append(options, webhook.WithMaxBody(bytes))
	}
	if seconds, ok := decode[float64](r.Args["freshness"]); ok {
		options = append(options, webhook.WithFreshness(time.Duration(math.Round(seconds*1000))*time.Millisecond))
	}
	if now, ok := decode[int64](r.Args["now"]); ok {
		options = append(options, webhook.WithClock(func() time.Time { return time.UnixMicro(now) }))
	}
	if any, _ := decode[bool](r.Args["any_key_length"]); any {
		options = append(options, webhook.WithAnyKeyLength())
	}
	made := func() (*webhook.Verifier, error) { return webhook.NewVerifier(nil, options...) }
	if given, ok := r.Args["accounts"]; ok {
		made = func() (*webhook.Verifier, error) { return webhook.NewVerifierForAccounts(accounts(given), options...) }
	}
	verifier, err := made()
	if err != nil {
		return nil, err
	}
	defer verifier.Close()
	return do(verifier)
}

func accounts(given json.RawMessage) map[string][][]byte {
	out := map[string][][]byte{}
	each, _ := decode[[]map[string]json.RawMessage](given)
	for _, one := range each {
		name := string(one["account"])
		if text, ok := decode[string](one["account"]); ok {
			name = text
		}
		out[name] = secrets(&request{Args: one})
	}
	return out
}

func stream(r *request, verifier *webhook.Verifier) (any, error) {
	made, err := verifier.Stream()
	if err != nil {
		return nil, err
	}
	defer made.Close()
	rest := body(r)
	sizes, _ := decode[[]int](r.Args["chunks"])
	for _, size := range append(sizes, len(rest)) {
		n := min(size, len(rest))
		if _, err := made.Write(rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	index, err := made.Finish(string(octets(r.Args["signature"])))
	return object{"secret_index": index}, err
}

func matches(r *request, verifier *webhook.Verifier) (any, error) {
	deliveries, _ := decode[[]map[string]json.RawMessage](r.Args["deliveries"])
	for _, delivery := range deliveries {
		one := &request{Args: delivery}
		event, _ := verifier.Unwrap(body(one), string(octets(delivery["signature"]))) // only the verifier's match counts are used
		event.Close()
	}
	counts := []uint64{}
	for i := range verifier.Secrets() {
		count, err := verifier.Matches(i)
		if err != nil {
			return nil, err
		}
		counts = append(counts, count)
	}
	return object{"matches": counts}, nil
}

func readEvent(r *request, event *webhook.Event, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	defer event.Close()
	values := object{}
	paths, _ := decode[[]string](r.Args["read"])
	for _, path := range paths {
		value, err := readPath(event, path)
		if err != nil {
			value = object{"error": described(err)}
		}
		values[path] = value
	}
	raw, err := event.Raw()
	if err == nil && !slices.Equal(raw, body(r)) {
		err = errors.New("Event.Raw is not the body")
	}
	return object{"read": values}, err
}

func readPath(event *webhook.Event, path string) (any, error) {
	data, err := event.Data()
	if err != nil {
		return nil, err
	}
	if path == "data_type" {
		switch data.(type) {
		case nil:
			return nil, nil
		case json.RawMessage:
			return "Value", nil
		}
		return reflect.TypeOf(data).Name(), nil
	}
	if name, ok := strings.CutPrefix(path, "has:data."); ok {
		_, present, err := member(data, name)
		return present, err
	}
	if path == "raw:data" {
		raw, err := event.RawData()
		if err != nil || raw == nil {
			return nil, err
		}
		return string(raw), nil
	}
	steps := strings.Split(path, ".")
	if steps[0] != "data" {
		return follow(reflect.ValueOf(event), steps)
	}
	if len(steps) == 1 {
		raw, err := event.RawData()
		if raw == nil {
			return nil, err
		}
		return raw, err
	}
	if _, plain := data.(json.RawMessage); plain || data == nil {
		found, present, err := member(data, strings.Join(steps[1:], "."))
		if !present {
			return nil, err
		}
		return found, err
	}
	return follow(reflect.ValueOf(data), steps[1:])
}

type fields interface {
	Field(name string) (json.RawMessage, bool, error)
}

func member(data any, name string) (json.RawMessage, bool, error) {
	if record, ok := data.(fields); ok {
		return record.Field(name)
	}
	raw, _ := data.(json.RawMessage)
	object, _ := decode[map[string]json.RawMessage](raw)
	found, present := object[name]
	return found, present, nil
}

var initialisms = map[string]string{"id": "ID", "url": "URL", "vat": "VAT"}

func exported(name string) string {
	var out strings.Builder
	for _, part := range strings.Split(name, "_") {
		if known, ok := initialisms[part]; ok {
			part = known
		} else if part != "" {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		out.WriteString(part)
	}
	return out.String()
}

// `follow` calls the getters along a path, one for each step.
func follow(from reflect.Value, steps []string) (any, error) {
	if from.Kind() == reflect.Slice && len(steps) > 0 && from.Type() != reflect.TypeFor[json.RawMessage]() {
		index, err := strconv.Atoi(steps[0])
		if err != nil || index >= from.Len() {
			return nil, &model.Error{Code: model.ErrInvalidArgument, Message: "there is no item " + steps[0]}
		}
		return follow(from.Index(index), steps[1:])
	}
	if len(steps) == 0 {
		return shown(from)
	}
	getter := from.MethodByName(exported(steps[0]))
	if !getter.IsValid() || getter.Type().NumIn() != 0 {
		record, ok := from.Interface().(fields)
		if !ok {
			return "the driver knows no such path", nil
		}
		raw, _, err := record.Field(strings.Join(steps, "."))
		if raw == nil {
			return nil, err
		}
		return raw, err
	}
	results := getter.Call(nil)
	if err, _ := results[len(results)-1].Interface().(error); err != nil {
		return nil, err
	}
	if len(results) == 3 && !results[1].Bool() {
		return nil, nil
	}
	if len(steps) > 1 {
		return follow(results[0], steps[1:])
	}
	return typed(from, steps[0], results[0])
}

// `typed` adds information that the driver protocol requires but Go values do not contain: whether an id was an
// integer, and the text of a time.
func typed(from reflect.Value, name string, value reflect.Value) (any, error) {
	raw := func() string {
		if record, ok := from.Interface().(fields); ok {
			out, _, _ := record.Field(name)
			return string(out)
		}
		whole, _ := from.Interface().(*webhook.Event).Raw()
		envelope, _ := decode[map[string]json.RawMessage](whole)
		return string(envelope[name])
	}
	switch is := value.Interface().(type) {
	case model.ID:
		return object{"id": string(is), "is_integer": !strings.HasPrefix(raw(), `"`)}, nil
	case time.Time:
		text, _ := decode[string](json.RawMessage(raw()))
		return object{"text": text, "unix_micros": is.UnixMicro()}, nil
	}
	if value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct {
		out, _, err := from.Interface().(fields).Field(name)
		return out, err
	}
	return shown(value)
}

func shown(value reflect.Value) (any, error) {
	switch is := value.Interface().(type) {
	case json.Number:
		return string(is), nil
	case raws:
		return is.Raw()
	}
	return value.Interface(), nil
}
