// The conformance driver in Go: reads one JSON request per line from stdin, writes one JSON reply per line to stdout
// (see tests/conformance).
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	billcore "billcore.example/go"
	"billcore.example/go/model"
)

type object = map[string]any

// request is one line of stdin. Absent members keep their zero values.
type request struct {
	Op           string                     `json:"op"`
	Client       json.RawMessage            `json:"client"`
	Timeout      json.RawMessage            `json:"timeout"`
	TotalTimeout json.RawMessage            `json:"total_timeout"`
	Args         map[string]json.RawMessage `json:"args"`
	Take         json.RawMessage            `json:"take"`
}

// decode reads a JSON value. `given` is false if the value is absent, null or of another type.
func decode[T any](raw json.RawMessage) (out T, given bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return out, false
	}
	return out, json.Unmarshal(raw, &out) == nil
}

func (r *request) text(name string) string {
	out, _ := decode[string](r.Args[name])
	return out
}

func (r *request) integer(name string) int64 {
	out, _ := decode[int64](r.Args[name])
	return out
}

// octets returns the bytes of a string or of {"b64": …}; nil for anything else.
func octets(raw json.RawMessage) []byte {
	if out, ok := decode[string](raw); ok {
		return []byte(out)
	}
	encoded, _ := decode[struct {
		B64 *string `json:"b64"`
	}](raw)
	if encoded.B64 == nil {
		return nil
	}
	out, err := base64.StdEncoding.DecodeString(*encoded.B64)
	if err != nil {
		return nil
	}
	return out
}

type driver struct {
	client   *billcore.Client
	madeWith string
}

func (d *driver) forget() {
	_ = d.client.Close()
	d.client, d.madeWith = nil, ""
}

// listing is an error of a list, with the items read before the error and the list's state.
type listing struct {
	error
	items []any
	state string
}

func (d *driver) answer(line []byte) object {
	var given request
	if err := json.Unmarshal(line, &given); err != nil {
		return object{"error": object{"class": "BillcoreError", "status": 5, "message": err.Error()}}
	}
	result, err := d.run(&given)
	if err != nil {
		return object{"error": described(err)}
	}
	return object{"ok": result}
}

var errNoOp = errors.New("the driver knows no such op")

func (d *driver) run(r *request) (any, error) {
	if verb, ok := webhookVerbs[r.Op]; ok {
		return verb(r)
	}
	operation, ok := operations[r.Op]
	if !ok {
		return nil, errNoOp
	}
	if d.client == nil || d.madeWith != string(r.Client) {
		d.forget()
		client, err := connect(r.Client)
		if err != nil {
			return nil, err
		}
		d.client, d.madeWith = client, string(r.Client)
	}
	client := d.client
	if r.Timeout != nil {
		own, err := client.With(timeout(r.Timeout)...)
		if err != nil {
			return nil, err
		}
		defer own.Close()
		client = own
	}
	return operation(client, r)
}

func class(code model.Code) string {
	if found, ok := classes[code]; ok {
		return found
	}
	return "BillcoreError"
}

func described(err error) object {
	out := object{}
	var list *listing
	if errors.As(err, &list) {
		out["items_before"], out["items"] = len(list.items), list.items
		if list.state != "" {
			out["state"] = list.state
		}
		err = list.error
	}
	var e *model.Error
	if !errors.As(err, &e) {
		out["class"], out["status"], out["message"] = "BillcoreError", 5, err.Error()
		return out
	}
	out["class"], out["status"], out["message"] = class(e.Code), int(e.Code), e.Message
	out["outcome_unknown"] = e.OutcomeUnknown
	out["sent_late"] = e.SentLate
	for name, text := range map[string]string{
		"api_code": e.APICode, "api_message": e.APIMessage, "body": e.Body, "request_id": e.RequestID, "method": e.Method,
		"path": e.Path,
	} {
		if text != "" {
			out[name] = text
		}
	}
	if e.Attempts != 0 {
		out["attempts"] = e.Attempts
	}
	if e.HTTPStatus != 0 {
		out["http_status"] = e.HTTPStatus
	}
	if e.HasRetryAfter {
		out["retry_after"] = e.RetryAfter.Seconds()
	}
	if e.Reason != model.ReasonNone {
		out["reason"] = e.Reason.String()
	}
	if e.Cause != 0 {
		out["cause"] = class(e.Cause)
	}
	return out
}

func main() {
	if given := os.Args[1:]; len(given) == 6 && given[0] == "charges" {
		if err := charges(given[1], given[2], given[3], given[4], given[5]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	kept := new(driver)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			encoder := json.NewEncoder(out)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(kept.answer(line)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if err := out.Flush(); err != nil {
				os.Exit(1)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	kept.forget()
	runtime.GC() // runs the finalizers, which would crash the process on a double free
}
