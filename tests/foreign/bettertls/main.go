// Serves BetterTLS' cases of certificate path building, each on its own TLS port. Usage: bettertls ROOT. The program
// writes the certificate that clients must trust to the file ROOT, prints the cases as one line of JSON, and serves
// until its stdin ends.
package main

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/Netflix/bettertls/test-suites/certutil"
	"github.com/Netflix/bettertls/test-suites/pathbuilding"
	"github.com/Netflix/bettertls/test-suites/test-case"
)

type testCase struct {
	ID       uint     `json:"id"`
	Port     int      `json:"port"`
	Accepted bool     `json:"accepted"` // whether a client that tries every path accepts the chain
	Needs    []string `json:"needs"`    // features that a client needs to pass the case
	Comment  string   `json:"comment"`  // BetterTLS' own comment
}

func answer(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Content-Type", "application/json")
	if _, err := io.WriteString(writer, `{"reached": true}`); err != nil {
		log.Print(err)
	}
}

func main() {
	root, key, err := certutil.GenerateSelfSignedCert("bettertls_trust_root")
	if err != nil {
		log.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw})
	if err := os.WriteFile(os.Args[1], text, 0o600); err != nil {
		log.Fatal(err)
	}
	provider := pathbuilding.NewTestCaseProvider()
	count, err := provider.GetTestCaseCount()
	if err != nil {
		log.Fatal(err)
	}
	cases := make([]testCase, count)
	for id := range count {
		one, err := provider.GetTestCase(id)
		if err != nil {
			log.Fatal(err)
		}
		chain, err := one.GetCertificates(root, key)
		if err != nil {
			log.Fatal(err)
		}
		listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{*chain}})
		if err != nil {
			log.Fatal(err)
		}
		cases[id] = testCase{
			ID:       id,
			Port:     listener.Addr().(*net.TCPAddr).Port,
			Accepted: one.ExpectedResult() == test_case.EXPECTED_RESULT_PASS,
			Needs:    []string{},
			Comment:  one.(*pathbuilding.TestCaseImpl).ExplicitTestCase.Comment,
		}
		for _, feature := range one.RequiredFeatures() {
			cases[id].Needs = append(cases[id].Needs, provider.DescribeFeature(feature))
		}
		server := &http.Server{Handler: http.HandlerFunc(answer), ErrorLog: log.New(io.Discard, "", 0)}
		go func() { log.Fatal(server.Serve(listener)) }()
	}
	if err := json.NewEncoder(os.Stdout).Encode(cases); err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
}
