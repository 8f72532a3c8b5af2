#!/usr/bin/env bash
# Runs every test of the Go module: run.sh PREFIX. The C libraries are installed under PREFIX. The script needs Go
# 1.23 or newer, a release build with the drivers of the other languages, and billcore-sandbox in PATH (tests/run.sh go
# provides all of this).
set -euo pipefail
prefix="$(realpath "${1:?usage: tests/go/run.sh PREFIX}")"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root="$PWD"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib" GOTOOLCHAIN=local GOFLAGS='-buildvcs=false -tags=billcore_system'
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
modules=(capi/go tests/go examples examples/inbox/go)

step() { echo "== $*"; }

step format and vet
unformatted="$(gofmt -s -l "${modules[@]}" tests/bench/go)"
[ -z "$unformatted" ] || { echo "not as gofmt -s writes it: $unformatted"; exit 1; }
for module in "${modules[@]}"; do (cd "$module" && go vet ./...); done

step what package model shows
# The comment of each alias has the methods that go doc shows of the type in internal/model.
methods() { (cd capi/go && go doc "$1") | sed -n 's/^ *\(func (.*\)/\1/p' | sort; }
types="$(cd capi/go && go doc -short ./model | sed -n 's/^type \(\w*\) = .*/\1/p')"
[ "$(wc -l <<<"$types")" -gt 10 ] || { echo "package model has these types: $types"; exit 1; }
for type in $types; do
  diff <(methods "./internal/model.$type") <(methods "./model.$type") || { echo "package model lacks methods of $type"; exit 1; }
done

step staticcheck
# Use the newest staticcheck that the installed Go can build.
staticcheck=v0.6.1
[[ "$(go env GOVERSION)" =~ ^go1\.2[0-4] ]] || staticcheck=v0.8.2
for module in "${modules[@]}"; do
  # staticcheck's default checks leave out some of its style rules (ST).
  (cd "$module" && go run "honnef.co/go/tools/cmd/staticcheck@$staticcheck" ./...)
done

step known vulnerabilities
if ! go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 -C tests/go ./... >"$work/vulnerabilities" 2>&1; then
  if grep -q '^Vulnerability #' "$work/vulnerabilities"; then
    # A vulnerability in the standard library concerns the installed Go, not this module, so it does not fail the run.
    grep -E '^(Vulnerability|    (Module|Found in|Fixed in))' "$work/vulnerabilities"
    if grep -qE '^  Module: ' "$work/vulnerabilities"; then exit 1; fi
  else
    echo "govulncheck did not run: $(grep -m 1 govulncheck "$work/vulnerabilities")"
  fi
fi

step tests, with the race detector
(cd capi/go && go test -race ./...)
(cd tests/go && go test -race -count=1 . && go test -run Little -fuzz FuzzUnwrap -fuzztime 2s .)
# The same with every call on the loop: one or two calls at once, which most tests make, would block instead.
(cd tests/go && go test -race -tags billcore_system,billcore_loop_only -count=1 .)
(cd tests/go && billcore-sandbox run -- go test -race -count=1 -run Booked .) # in a sandbox that runs already

step what is missing without cgo
[ "$(cd capi/go && CGO_ENABLED=0 go build ./... 2>&1 | grep -c .)" = 2 ] # two lines: the package's name and the message
(cd capi/go && CGO_ENABLED=0 go build ./... 2>&1 || true) | grep -q 'billcore needs cgo: build with CGO_ENABLED=1 and a C compiler'

step programs and what they link
(cd examples && go build -o "$work/shared/" ./go/... && go build -tags billcore_system,billcore_static -o "$work/static/" ./go/...)
for kind in shared static; do
  for program in find verify_webhook; do
    printf '%s %s: %s KiB, stripped %s KiB\n' "$kind" "$program" "$(($(stat -c %s "$work/$kind/$program") / 1024))" \
      "$(strip -o "$work/stripped" "$work/$kind/$program" && echo $(($(stat -c %s "$work/stripped") / 1024)))"
  done
done
needs() { ldd "$1" | grep -c "$2" || true; }
[ "$(needs "$work/shared/verify_webhook" libcurl)$(needs "$work/static/verify_webhook" libcurl)" = 00 ] ||
  { echo "the webhook half needs libcurl"; exit 1; }
[ "$(needs "$work/static/find" libbillcore)" = 0 ] || { echo "billcore_static links a shared library of ours"; exit 1; }

step a service outside of the tree
mkdir "$work/service"
cp examples/go/verify_webhook/main.go "$work/service"
(
  cd "$work/service"
  go mod init example.com/service
  go work init .
  go work use -r "$prefix/share/billcore/go"
  go build .
)
signature="$(printf '{"name":"test.hook"}' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef -r | cut -d ' ' -f 1)"
printf '{"name":"test.hook"}' | WEBHOOK_SECRET=0123456789abcdef0123456789abcdef "$work/service/service" "$signature"

step the wire fixtures
export PYTHONPATH="$BILLCORE_RELEASE_BUILD/python:$root"
# The driver reads requests of 6 MB, for which the race detector in encoding/json takes ten seconds.
for tags in '' billcore_loop_only; do
  (cd tests/go && go build -race -gcflags=encoding/...=-race=false -tags "billcore_system,$tags" -o "$work/driver$tags" ./driver)
done
BILLCORE_GO_DRIVER="$work/driver" python3 -m pytest -q -n 2 tests/conformance --language go
# Webhooks have no loop.
BILLCORE_GO_DRIVER="$work/driverbillcore_loop_only" python3 -m pytest -q -n 2 tests/conformance --language go \
  --ignore-glob '*/test_webhook*' --ignore-glob '*/test_mutations*' --ignore-glob '*/test_explain*' --ignore-glob '*/test_rfc*'

step what Go says of a faulty connection, to calls that block and to calls on the loop
for tags in '' billcore_loop_only; do
  BILLCORE_GO_DRIVER="$work/driver$tags" python3 -m pytest -q -n 2 tests/faults/test_{answers,connections,killed,late}.py --driver go --few
done
