// Serves h2spec's cases that test clients, each on its own TLS ports. Usage: h2spec CERTIFICATE KEY. The program prints
// the cases as one line of JSON. When its stdin ends, the program prints a second line with the results for each
// port.
package main

import (
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"github.com/summerwind/h2spec/client"
	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/spec"
)

const (
	preface     = 24 // length of the HTTP/2 connection preface
	frameHead   = 9
	headersType = 1
)

type testCase struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Ports []int  `json:"ports"` // the test sends a read to the first port, a write to the second
}

type seen struct {
	Connections int    `json:"connections"`
	Requests    int    `json:"requests"` // number of HEADERS frames that the case has received
	Verdict     string `json:"verdict"`  // h2spec's complaint; empty if it has none
}

// recorder keeps the bytes that a case reads. recorder reports every error but a time-out as io.EOF, because h2spec
// accepts only io.EOF as the end of a connection.
type recorder struct {
	net.Conn
	read []byte
}

func (r *recorder) Read(into []byte) (int, error) {
	count, err := r.Conn.Read(into)
	r.read = append(r.read, into[:count]...)
	var late net.Error
	if err != nil && !(errors.As(err, &late) && late.Timeout()) {
		err = io.EOF
	}
	return count, err
}

func (r *recorder) requests() int {
	count := 0
	for at := preface; at+frameHead <= len(r.read); {
		if r.read[at+3] == headersType {
			count++
		}
		at += frameHead + int(binary.BigEndian.Uint32(r.read[at:])>>8)
	}
	return count
}

type server struct {
	config  *config.Config
	tls     *tls.Config
	cases   []testCase
	mutex   sync.Mutex
	seen    map[int]*seen
	running sync.WaitGroup
}

func (s *server) add(group *spec.ClientTestGroup) error {
	for _, one := range group.Tests {
		added := testCase{ID: fmt.Sprintf("%s/%d", group.Section, one.Seq), Title: one.Desc}
		for range 2 {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			port := listener.Addr().(*net.TCPAddr).Port
			added.Ports = append(added.Ports, port)
			s.seen[port] = &seen{}
			go s.serve(listener, one, s.seen[port])
		}
		s.cases = append(s.cases, added)
	}
	for _, each := range group.Groups {
		if err := s.add(each); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) serve(listener net.Listener, one *spec.ClientTestCase, into *seen) {
	for {
		raw, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		s.running.Add(1)
		go s.run(raw, one, into)
	}
}

func (s *server) run(raw net.Conn, one *spec.ClientTestCase, into *seen) {
	defer s.running.Done()
	defer raw.Close()
	recorded := &recorder{Conn: tls.Server(raw, s.tls)}
	verdict := s.verdict(recorded, one)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	into.Connections++
	into.Requests += recorded.requests()
	into.Verdict += verdict
}

func (s *server) verdict(recorded *recorder, one *spec.ClientTestCase) (verdict string) {
	// If the client closes the connection at once, some cases of h2spec use a nil event, which panics.
	defer func() {
		if reason := recover(); reason != nil {
			verdict = fmt.Sprint(reason)
		}
	}()
	conn, err := spec.Accept(s.config, recorded)
	if err == nil {
		err = one.Run(s.config, conn)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func main() {
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	s := &server{
		config: &config.Config{Timeout: 10 * time.Second, MaxHeaderLen: 4000, TLS: true},
		tls:    &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}},
		seen:   map[int]*seen{},
	}
	if err := s.add(client.Spec()); err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(s.cases); err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
	s.running.Wait()
	if err := out.Encode(s.seen); err != nil {
		log.Fatal(err)
	}
}
