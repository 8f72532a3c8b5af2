# shellcheck shell=bash
# The scripts of tests and examples/quickstart.sh source this file. This file defines functions that install missing
# packages on a fresh Debian 12 machine, and sets the cache folders. Fetched and built third-party files are kept
# outside the clone, in folders named after a hash, so that later runs find them.

export HOME="${HOME:-/root}"
bc_cache="${XDG_CACHE_HOME:-$HOME/.cache}/billcore"
bc_jobs="$(nproc 2>/dev/null || echo 2)"
export bc_jobs

bc_say() { printf '\n== %s\n' "$*"; }

# bc_packages PACKAGE…: installs the Debian packages that are missing. Without root, prints the command that installs
# them, and ends the shell with status 1. Without dpkg, does nothing: the system has packages of its own.
bc_packages() {
  local missing=() package
  command -v dpkg-query >/dev/null || return 0
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  [ "${#missing[@]}" -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "Missing packages. Run this as root, then try again:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  bc_say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# bc_python: prints the path of a Python 3.11 or newer.
bc_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$python" -c 'import sys; print(sys.executable)'
      return 0
    fi
  done
  echo "no Python 3.11 or newer with venv was found: install python3 and python3-venv" >&2
  exit 1
}

# bc_once FOLDER COMMAND…: makes FOLDER with COMMAND unless FOLDER exists. If a parallel run is making the same
# folder, waits for that run. COMMAND must return a non-zero status when it fails, because bash may ignore `set -e`,
# for example before `||`.
bc_once() {
  local folder="$1"
  shift
  mkdir -p "$(dirname "$folder")"
  (
    set -e
    flock 9
    [ ! -e "$folder/complete" ] || exec touch "$folder" # the time of its last use
    rm -rf "$folder"
    "$@"
    made="$?"
    [ "$made" -eq 0 ] || exit "$made"
    touch "$folder/complete"
    bc_prune "$folder"
  ) 9>"$folder.lock"
}

# bc_prune FOLDER: deletes the earlier versions of FOLDER, whose name is STEM-KEY; a version may have 1 GB. Keeps the ten
# versions that were used last, and those that were used in the last three hours, because a parallel run may need them.
bc_prune() {
  local name="${1##*/}" old
  while read -r old; do
    (
      flock -n 9 || exit 0 # bc_once is making this version, or marks it as used
      if [ -n "$(find "$old" -maxdepth 0 -mmin +180)" ]; then
        rm -f "$old/complete" # first, so that bc_once does not use what an interrupted deletion leaves
        rm -rf "$old"
      fi
    ) 9>"$old.lock"
  done < <(find "${1%/*}" -maxdepth 1 -type d -name "${name%-*}-*" -printf '%T@ %p\n' | sort -rn | cut -d' ' -f2- | tail -n +11)
}

bc_make_venv() { # FOLDER PYTHON REQUIREMENT…
  "$2" -m venv "$1" && "$1/bin/python" -m pip install --quiet --disable-pip-version-check "${@:3}"
}

# bc_venv_of PYTHON REQUIREMENT…: prints the folder of a virtual environment with exactly these requirements; makes
# the environment on first use.
bc_venv_of() {
  local python="$1" key folder
  key="$(printf '%s\n' "$("$python" -VV)" "$@" | sha256sum | cut -c1-16)"
  folder="$bc_cache/venv-$key"
  bc_once "$folder" bc_make_venv "$folder" "$@" >&2
  [ -e "$folder/complete" ] && echo "$folder"
}

# bc_venv REQUIREMENT…: runs bc_venv_of with the default Python.
bc_venv() {
  local python
  python="$(bc_python)"
  bc_venv_of "$python" "$@"
}

# bc_make_venv_on FOLDER PYTHON PACKAGE… -- REQUIREMENT…: makes a virtual environment with packages of this tree. The
# requirements come as hard links from an environment that has only them and is made once, because pip takes a minute to
# install them.
bc_make_venv_on() {
  local folder="$1" python="$2" packages=() base each
  shift 2
  while [ "$1" != -- ]; do
    packages+=("$1")
    shift
  done
  base="$(bc_venv_of "$python" "${@:2}")" || return
  mkdir -p "$folder"
  for each in "$base"/*; do
    [ "$each" = "$base/complete" ] || cp -al "$each" "$folder" || return
  done
  grep -rlI "$base" "$folder/bin" "$folder/pyvenv.cfg" | xargs sed -i "s|$base|$folder|g" # the first lines of programs
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
}

# bc_ccache ROOT: caches compiled objects outside the clone, independent of the clone's location and of the options for
# warnings, so that the package, the quickstart and the preset `release` compile each file once. Build a preset first:
# only a preset turns warnings into errors, and a cached object does not repeat its warnings.
bc_ccache() {
  export CCACHE_IGNOREOPTIONS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
  export CCACHE_DIR="$bc_cache/ccache" CCACHE_BASEDIR="$1" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=2G
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
}

# bc_quietly NAME LOG COMMAND…: runs a build step and writes its output to the file LOG; if the step fails, prints the
# end of LOG.
bc_quietly() {
  local name="$1" log="$2"
  shift 2
  if ! "$@" >"$log" 2>&1; then
    tail -n 80 "$log" >&2
    echo "$name failed; the whole log is $log" >&2
    return 1
  fi
}

# bc_cargo ARGUMENT…: runs a cargo of at least 1.70; older ones download the registry's whole index.
bc_cargo() {
  local found
  for found in "$(type -P cargo || true)" "$HOME/.cargo/bin/cargo"; do
    if [[ "$("$found" --version 2>/dev/null)" =~ ^cargo\ 1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 70 ]; then
      "$found" "$@"
      return
    fi
  done
  # In Debian 12, the package cargo is older than 1.70; the package cargo-web is newer.
  if [ "$(. /etc/os-release && echo "${VERSION_ID:-}")" = 12 ]; then bc_packages cargo-web; else bc_packages cargo; fi
  /usr/bin/cargo "$@"
}

bc_fetch_crate() { # FOLDER CRATE VERSION SHA256
  local project="$1/project" file="$2-$3.crate" found
  mkdir -p "$project"
  printf '%s\n' '[package]' 'name = "carrier"' 'version = "0.0.0"' '[lib]' 'path = "carrier.rs"' '[workspace]' \
    '[dependencies]' "$2 = \"=${3%+*}\"" >"$project/Cargo.toml"
  touch "$project/carrier.rs"
  found=("${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$file")
  if [ ! -e "${found[0]}" ]; then
    (cd "$project" && bc_cargo fetch --target "$(uname -m)-unknown-linux-gnu") || return
    found=("${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$file")
  fi
  rm -r "$project"
  echo "$4  ${found[0]}" | sha256sum --check || {
    echo "${found[0]} does not have the pinned hash: delete it and try again, or correct the pin"
    return 1
  }
  tar -xzf "${found[0]}" -C "$1" --strip-components=1
}

# bc_crate CRATE VERSION SHA256: prints the folder with the sources of a Cargo crate, fetched once.
bc_crate() {
  local folder="$bc_cache/crate-$1-$2-${3:0:16}"
  bc_once "$folder" bc_quietly "fetching $1 $2" "$folder.log" bc_fetch_crate "$folder" "$@" >&2
  echo "$folder"
}

# bc_tree_hash PATH…: prints one hash over the files below these paths, to decide whether a rebuild is needed.
bc_tree_hash() {
  find "$@" -type f ! -path '*/__pycache__/*' ! -path '*/build/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
}

bc_go_version=1.23.12

# bc_go: prints the folder of the command go, at least in the version that capi/go/go.mod requires; fails if there is
# none. Debian 12's own Go is older, but can fetch a newer Go from the module proxy and verify it.
bc_go() {
  local found folder
  for found in "$(type -P go || true)" /usr/local/go/bin/go; do
    if [[ "$(GOTOOLCHAIN=local "$found" env GOVERSION 2>/dev/null)" =~ ^go1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 23 ]; then
      dirname "$found"
      return
    fi
  done
  folder="$bc_cache/go-$bc_go_version"
  bc_once "$folder" bc_fetch_go "$folder" >&2 && echo "$folder/go/bin"
}

bc_fetch_go() { # FOLDER
  local module
  module="golang.org/toolchain@v0.0.1-go$bc_go_version.linux-$(dpkg --print-architecture)"
  mkdir -p "$1"
  (cd "$1" && go mod download -json "$module" >download.json) || {
    cat "$1/download.json" >&2
    return 1
  }
  # Go modules do not store file permissions, so the programs are made executable here.
  cp -r "$(sed -n 's/.*"Dir": "\(.*\)".*/\1/p' "$1/download.json")" "$1/go" &&
    chmod -R u+w "$1/go" &&
    chmod +x "$1"/go/bin/* "$1"/go/pkg/tool/*/*
}

# bc_rust [MINOR]: prints the folder of the commands cargo and rustc, at least in the version 1.MINOR, by default in that
# which capi/rust/Cargo.toml requires; fails if there is none.
# shellcheck disable=SC2120 # areas.sh passes MINOR
bc_rust() {
  local found
  for found in "$(type -P cargo || true)" "$HOME/.cargo/bin/cargo" /usr/bin/cargo; do
    if [[ "$("$found" --version 2>/dev/null)" =~ ^cargo\ 1\.([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge "${1:-85}" ] &&
      "$(dirname "$found")/rustc" --version >/dev/null 2>&1; then
      dirname "$found"
      return
    fi
  done
  return 1
}

# bc_rust_packages: installs Debian's Rust if bc_rust finds none. Debian 12 has a newer Rust (cargo-web) beside its
# default Rust.
bc_rust_packages() {
  local suffix=""
  if [ "$(. /etc/os-release && echo "${VERSION_ID:-}")" = 12 ]; then suffix=-web; fi
  bc_rust >/dev/null || bc_packages "cargo$suffix" "rustc$suffix" "rustfmt$suffix"
}

# bc_rust_enter ROOT PREFIX: copies the Rust sources of the clone ROOT, and the libraries installed under PREFIX, to a
# folder of the cache; each version of the compiler has its own folder. All clones of the repository are copied to the
# same folder, where unchanged files keep their times, so cargo builds only what has changed. Sets bc_rust_source,
# bc_rust_prefix and the environment of cargo. The folder stays locked until the shell ends.
bc_rust_enter() {
  local folder file
  folder="$bc_cache/rust-$(rustc -vV | sha256sum | cut -c1-16)"
  bc_rust_source="$folder/source" bc_rust_prefix="$folder/prefix"
  export bc_rust_features=async-io,chrono,client,secrecy,serde,static,time,tokio,tower,tracing
  mkdir -p "$bc_rust_source"
  exec 6>"$folder/lock"
  flock 6
  touch "$folder"
  find "$bc_cache" -maxdepth 1 -name 'rust-*' -mtime +14 -exec rm -rf {} +
  (
    cd "$1"
    find .rustfmt.toml tests/fixtures/deliveries.json capi/rust examples/inbox/rust examples/rust tests/rust -type f ! -name Cargo.lock ! -path '*/target/*' |
      LC_ALL=C sort
  ) >"$folder/files"
  while read -r file; do
    cmp -s "$1/$file" "$bc_rust_source/$file" || (cd "$1" && cp --parents "$file" "$bc_rust_source")
  done <"$folder/files"
  (
    cd "$bc_rust_source"
    find . -type f ! -name Cargo.lock -printf '%P\n' | LC_ALL=C sort | LC_ALL=C comm -13 "$folder/files" - | xargs -r -d '\n' rm
  )
  rm -rf "$bc_rust_prefix"
  cp -a "$2" "$bc_rust_prefix"
  export CARGO_TARGET_DIR="$folder/target" PKG_CONFIG_PATH="$bc_rust_prefix/lib/pkgconfig"
  # Turns off incremental builds and full debug information, so that cargo writes less.
  export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only CARGO_TERM_COLOR=never
}

# bc_rust_programs ROOT PREFIX TO PROGRAMS OPTION…: builds PROGRAMS of examples/rust into the folder TO. The programs
# find the shared libraries under PREFIX. OPTION is passed to cargo. Call this function in a subshell, because
# bc_rust_enter holds a lock until the shell ends.
bc_rust_programs() {
  local prefix="$2" to="$3" programs="$4" program
  bc_rust_enter "$1" "$2"
  shift 4
  mkdir -p "$to"
  for program in $programs; do
    (cd "$bc_rust_source/examples/rust" && cargo rustc "$@" --bin "$program" -- -C "link-arg=-Wl,-rpath,$prefix/lib") || return
    cp "$CARGO_TARGET_DIR/debug/$program" "$to" || return
  done
}
