#!/usr/bin/env bash
# Runs every test of the Rust crates: run.sh PREFIX. The C libraries are installed under PREFIX. The script needs
# Rust 1.85 or newer, a release build with the drivers of the other languages, and billcore-sandbox in PATH
# (tests/run.sh rust provides all of this).
set -euo pipefail
prefix="$(realpath "${1:?usage: tests/rust/run.sh PREFIX}")"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root="$PWD"
. tests/setup.sh
bc_rust_enter "$root" "$prefix"
prefix="$bc_rust_prefix"
cd "$bc_rust_source"
export LD_LIBRARY_PATH="$prefix/lib" RUST_BACKTRACE=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
packages=(capi/rust tests/rust examples/rust)

step() { echo "== $* (after $SECONDS s)"; }
in_each() { for package in "${packages[@]}"; do (cd "$package" && "$@"); done; }
# Runs a command in capi/rust, once for each set of Cargo features that compiles different code.
in_each_form() {
  local form
  for form in "--features $bc_rust_features" --no-default-features "--no-default-features --features tower,serde" "" "--features tokio" \
    "--features async-io"; do
    # shellcheck disable=SC2086 # words
    (cd capi/rust && "$@" $form)
  done
}

step format, clippy, rustdoc
in_each cargo fmt --check
for program in bench cost; do cargo fmt --check --manifest-path "$root/tests/$program/rust/Cargo.toml"; done
if cargo clippy --version >/dev/null 2>&1; then
  clippy() { cargo clippy --quiet --all-targets "$@" -- --deny warnings; }
  in_each_form clippy
  (cd capi/rust && DOCS_RS=1 clippy -p billcore-src --features client) # compiles no C++
  (cd tests/rust && clippy)
  (cd examples/rust && clippy --features database)
else
  echo "this Rust has no clippy: its lints were not checked"
fi
# As on docs.rs, which has no libbillcore: pkg-config finds nothing in an empty folder.
(cd capi/rust && RUSTDOCFLAGS="--deny warnings" DOCS_RS=1 PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR="$work" \
  cargo doc --quiet --no-deps --features "$bc_rust_features")

step dependencies
python3 tests/rust/check_dependencies.py

step declarations
# The declarations in billcore-sys must equal those that bindgen generates from the headers.
bindgen_version=0.72.1
bindgen="$bc_cache/bindgen-$bindgen_version"
bc_once "$bindgen" bc_quietly "bindgen $bindgen_version" "$bindgen.log" cargo install --quiet --locked "bindgen-cli@$bindgen_version" \
  --debug --no-default-features --features runtime --root "$bindgen" --target-dir "$work/bindgen" # builds fastest
"$root/capi/rust/billcore-sys/generate.sh" "$bindgen/bin/bindgen" --check
# Unsafe code is allowed only in the module ffi.
if grep -rnE '\bunsafe\b' capi/rust/billcore/src --include '*.rs' |
  grep -vE '^capi/rust/billcore/src/(ffi/|lib\.rs:[0-9]+:#!\[deny\(unsafe_code\)\])'; then
  echo "unsafe stands outside of src/ffi"
  exit 1
fi
echo "$(grep -rhE '\bunsafe\b' capi/rust/billcore/src/ffi | grep -cv '^ *//') lines of capi/rust/billcore/src/ffi have the word unsafe"

step tests
(cd capi/rust && cargo test --quiet --features "$bc_rust_features")
(cd tests/rust && cargo test --quiet)
(cd tests/rust && billcore-sandbox run -- cargo test --quiet --test sandbox) # in a sandbox that runs already

step memory
if [ -n "$(find "$(rustc --print target-libdir)" -name 'librustc*_rt.asan.a')" ]; then
  # AddressSanitizer does not instrument the C libraries, but it tracks their allocations, so it finds leaked handles.
  (
    cd tests/rust
    export ASAN_OPTIONS=quarantine_size_mb=8 RUSTFLAGS=-Zsanitizer=address RUSTC_BOOTSTRAP=1
    cargo test --quiet --tests --target "$(rustc -vV | sed -n 's/^host: //p')" --target-dir "$CARGO_TARGET_DIR/address"
  )
else
  echo "this Rust has no AddressSanitizer: leaks were not looked for"
fi
echo "ThreadSanitizer needs the standard library and the C libraries built with it: the area tsan has the latter, without Rust"
if (cd capi/rust && cargo +nightly miri --version) >/dev/null 2>&1; then
  (cd capi/rust && cargo +nightly miri test --quiet --no-default-features --lib)
else
  echo "there is no Miri: what does not call C was not run in it"
fi

step programs and what they link
build() { # KIND PROGRAM FEATURES
  (cd examples/rust && cargo build --quiet --release --bin "$2" --no-default-features --features "$3" --target-dir "$CARGO_TARGET_DIR/$1")
  file="$CARGO_TARGET_DIR/$1/release/$2"
  strip -o "$work/stripped" "$file"
  echo "$1 $2: $(($(stat -c %s "$file") / 1024)) KiB, stripped $(($(stat -c %s "$work/stripped") / 1024)) KiB"
}
build shared find client
build shared verify_webhook ""
build static find client,static
build static verify_webhook static
needs() { ldd "$CARGO_TARGET_DIR/$1" | grep -c "$2" || true; }
[ "$(needs shared/release/verify_webhook libcurl)$(needs static/release/verify_webhook libcurl)" = 00 ] ||
  { echo "the webhook half needs libcurl"; exit 1; }
[ "$(needs shared/release/verify_webhook 'libbillcore[.]')" = 0 ] || { echo "the webhook half needs the client"; exit 1; }
[ "$(needs static/release/find libbillcore)" = 0 ] || { echo "the feature static links a shared library of ours"; exit 1; }

step a service outside of the tree
# Follows the steps in capi/rust/README.md.
cargo new --quiet --vcs none "$work/service"
cp examples/rust/verify_webhook.rs "$work/service/src/main.rs"
(
  cd "$work/service"
  cargo add --quiet billcore --path "$prefix/share/billcore/rust/billcore" --no-default-features
  unset LD_LIBRARY_PATH
  RUSTFLAGS="-C link-arg=-Wl,-rpath,$prefix/lib" cargo build --quiet --target-dir "$CARGO_TARGET_DIR/service"
  signature="$(printf '{"name":"test.hook"}' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef -r | cut -d ' ' -f 1)"
  printf '{"name":"test.hook"}' | WEBHOOK_SECRET=0123456789abcdef0123456789abcdef "$CARGO_TARGET_DIR/service/debug/service" "$signature"
)

step the wire fixtures
(cd tests/rust && cargo build --quiet --bin driver)
cd "$root"
export BILLCORE_RUST_DRIVER="$CARGO_TARGET_DIR/debug/driver"
export PYTHONPATH="$BILLCORE_RELEASE_BUILD/python:$root"
python3 -m pytest -q -n 2 tests/conformance --language rust --language rust-async

step what Rust says of a faulty connection
python3 -m pytest -q -n 2 tests/faults/test_{answers,connections,killed,late}.py --driver rust --driver rust-async --few
