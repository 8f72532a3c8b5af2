#!/usr/bin/env bash
# Sets up a fresh Debian 12 machine and runs examples: installs the missing packages, builds the libraries, starts the
# sandbox, and runs the programs find, charge and verify_webhook in C++ and C, and in Go and Rust if they are installed;
# then, in Python, the story: the life of a subscription. Exits with status 0 only if every step succeeded.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
. tests/setup.sh
build="$root/build/quickstart"
log="$build/quickstart.log"

# quietly TITLE COMMAND…: runs the command with its output in the log, and shows the output only if the command fails.
quietly() {
  local title="$1" start="$SECONDS"
  shift
  bc_say "$title"
  printf '\n== %s\n' "$title" >>"$log"
  if ! "$@" >>"$log" 2>&1; then # "if" turns "set -e" off within the command
    echo "This failed. The last lines of $log:" >&2
    tail -n 40 "$log" >&2
    exit 1
  fi
  echo "done in $((SECONDS - start)) s"
}

build_libraries() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBILLCORE_CAPI=ON -DBILLCORE_EXAMPLES=ON \
    -DCMAKE_INSTALL_LIBDIR=lib &&
    cmake --build "$build"
}

# install_python FOLDER: makes a virtual environment in FOLDER and installs the package there as a user does.
install_python() {
  "$python" -m venv "$1" &&
    "$1/bin/python" -m pip install --disable-pip-version-check --config-settings=build-dir=build/quickstart-wheel \
      ./python/sandbox '.[sandbox]'
}

# start_sandbox PYTHON: starts the sandbox, and sets BILLCORE_BASE_URL, BILLCORE_API_KEY and BILLCORE_SANDBOX_CONTROL.
# The sandbox exits when its stdin is closed, so it cannot outlive this script.
start_sandbox() {
  local ready
  coproc SANDBOX { exec "$1" -m billcore_sandbox --port 0 --seed 1 --delivery-timeout 60 --exit-with-stdin 2>>"$log"; }
  sandbox="$SANDBOX_PID"
  trap stop_sandbox EXIT
  if ! read -r -t 60 ready <&"${SANDBOX[0]}"; then
    echo "The sandbox did not start. The last lines of $log:" >&2
    tail -n 20 "$log" >&2
    exit 1
  fi
  { read -r BILLCORE_BASE_URL && read -r BILLCORE_API_KEY && read -r BILLCORE_SANDBOX_CONTROL; } < <(
    "$1" -c 'import json; line = json.loads(input()); print(line["base_url"], line["api_key"], line["control_url"], sep="\n")' \
      <<<"$ready"
  )
  export BILLCORE_BASE_URL BILLCORE_API_KEY BILLCORE_SANDBOX_CONTROL
}

stop_sandbox() {
  kill "$sandbox" 2>/dev/null || true
  wait "$sandbox" 2>/dev/null || true
}

# show LANGUAGE FOLDER: runs the programs of one language.
show() {
  printf '\nFind a subscription, charge it, verify a webhook, in %s\n' "$1"
  "$2/find" demo-active
  "$2/charge" 480001 102 1500
  printf '%s' "$paid" | "$2/verify_webhook" "$signature"
}

# Builds the programs in Go against an installed prefix.
build_go() {
  cmake --install "$build" --prefix "$build/prefix" &&
    (
      export PKG_CONFIG_PATH="$build/prefix/lib/pkgconfig" CGO_LDFLAGS="'-Wl,-rpath,$build/prefix/lib'" GOTOOLCHAIN=local
      cd examples && PATH="$go:$PATH" go build -buildvcs=false -tags billcore_system -o "$build/examples/go/" ./go/...
    )
}

# Builds the programs in Rust against an installed prefix.
build_rust() {
  cmake --install "$build" --prefix "$build/prefix" &&
    (PATH="$rust:$PATH" && bc_rust_programs "$root" "$build/prefix" "$build/examples/rust" \
      "find charge verify_webhook receiver" --features server)
}

bc_packages ca-certificates cmake g++ gcc libcurl4-openssl-dev libmicrohttpd-dev libssl-dev ninja-build pkg-config python3 \
  python3-dev python3-pip python3-venv zlib1g-dev
mkdir -p "$build" "$bc_cache"
: >"$log"
python="$(bc_python)"

quietly "building the libraries and the examples" build_libraries
go="$(bc_go 2>>"$log" || true)"
if [ -z "$go" ] && [ "${CI:-}" = true ]; then # CI must run the programs of every language
  bc_packages golang-go
  go="$(bc_go)"
fi
if [ -n "$go" ]; then
  quietly "building the programs in Go" build_go
else
  echo "no Go 1.23 or newer in PATH: the programs in Go are left out"
fi
if [ "${CI:-}" = true ]; then bc_rust_packages; fi
if rust="$(bc_rust)"; then
  quietly "building the programs in Rust" build_rust
else
  echo "no Rust 1.85 or newer in PATH: the programs in Rust are left out"
fi
# The name of the virtual environment contains a hash of the package's files, so changed files get a new environment.
state="$("$python" -VV; bc_tree_hash CMakeLists.txt LICENSE README.md core pyproject.toml python)"
venv="$bc_cache/quickstart-$(sha256sum <<<"$state" | cut -c1-16)"
bc_once "$venv" quietly "installing the Python package" install_python "$venv"

start_sandbox "$venv/bin/python"
export WEBHOOK_SECRET=0123456789abcdef0123456789abcdef
paid='{"id":8,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}'
sign='import sys; from billcore import webhooks; print(webhooks.sign(sys.argv[1].encode(), sys.argv[2]))'
signature="$("$venv/bin/python" -c "$sign" "$paid" "$WEBHOOK_SECRET")"
show C++ "$build/examples/cpp"
show C "$build/examples/c"
if [ -n "$go" ]; then show Go "$build/examples/go"; fi
if [ -n "$rust" ]; then show Rust "$build/examples/rust"; fi
echo
"$venv/bin/python" examples/story/story.py
printf '\nEvery program succeeded; this took %s s. Read next: README.md\n' "$SECONDS"
