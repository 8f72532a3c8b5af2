package billcoretests

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"testing"

	billcore "billcore.example/go"
)

// `fixed` starts a server that sends the same answer to every request, which must not have a body, without allocating
// memory, and returns a client for this server.
func fixed(t testing.TB, body string) *billcore.Client {
	t.Helper()
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = listener.Close() })
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				lines := bufio.NewReader(connection)
				for line, err := lines.ReadSlice('\n'); err == nil; line, err = lines.ReadSlice('\n') {
					if bytes.Equal(line, []byte("\r\n")) {
						_, _ = connection.Write(answer)
					}
				}
			}()
		}
	}()
	return connect(t, "http://"+listener.Addr().String())
}

// This test limits the number of allocations of an operation in Go; tests/cost counts the allocations in C.
func TestOperationsAllocateLittle(t *testing.T) {
	withoutRaceDetector(t)
	v := verifier(t)
	body, signature := []byte(paid), signed(t, paid)
	unwrap := func() {
		event := must(v.Unwrap(body, signature))
		order := must(event.Order())
		if state, err := order.State(); state != "paid" || err != nil {
			t.Fatal(state, err)
		}
		event.Close()
	}
	one := fixed(t, `{"data":`+order(1)+`}`)
	get := func() {
		if _, err := one.Orders().Get(background, "ord_1"); err != nil {
			t.Fatal(err)
		}
	}
	const orders = 100
	list := fixed(t, page(1, orders, orders))
	read := func() {
		count := 0
		for one, err := range list.Subscriptions().Orders(background, "s").All() {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := one.State(); err != nil {
				t.Fatal(err)
			}
			count++
		}
		if count != orders {
			t.Fatal(count)
		}
	}
	for _, each := range []struct {
		name string
		do   func()
		most float64
	}{{"unwrap", unwrap, 3}, {"get", get, 4}, {"a list of 100", read, 13}} {
		if found := testing.AllocsPerRun(200, each.do); found > each.most {
			t.Errorf("%s: %.1f allocations, at most %.0f are allowed", each.name, found, each.most)
		} else {
			t.Logf("%s: %.1f allocations", each.name, found)
		}
	}
}
