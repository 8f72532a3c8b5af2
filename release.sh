#!/usr/bin/env bash
# Makes everything that a release of billcore consists of, in the folder dist:
#   ./release.sh [--quick] [--wheels FOLDER] [--output FOLDER] [PIECE…]
# PIECE: python, rust, go or c; by default all of them.
# --quick: only for this processor and glibc, and one wheel, for the CPython of this machine; the crates are not compiled.
# --wheels: takes the wheels of billcore from FOLDER, and builds none.
# Works on a Debian 12 machine, as root or with the needed packages installed; the crates need Rust 1.90 or newer. Two runs
# of one commit give equal bytes. python/wheel/README.md says which of the pieces have been tested.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. tests/setup.sh

pieces=()
output=dist
quick=""
wheels=""
while [ "$#" -gt 0 ]; do
  case "$1" in
    --output) output="${2:?--output needs a folder}"; shift ;;
    --wheels) wheels="${2:?--wheels needs a folder}"; shift ;;
    --quick) quick=yes ;;
    python | rust | go | c) pieces+=("$1") ;;
    *) echo "release.sh: there is no piece and no option '$1'; the pieces are: python rust go c" >&2; exit 2 ;;
  esac
  shift
done
[ "${#pieces[@]}" -gt 0 ] || pieces=(python rust go c)

# The time of the commit, so that the archives do not contain the time of the build.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH="$(git log -1 --format=%ct 2>/dev/null)" || {
    echo "release.sh: this folder is not a clone: set SOURCE_DATE_EPOCH to the time of the release, in seconds since 1970" >&2
    exit 1
  }
fi
export SOURCE_DATE_EPOCH

# The folder gets this release only. What is in it must be an earlier release, not files of somebody's.
if [ -n "$(ls -A "$output" 2>/dev/null)" ] && ! grep -qs urn:billcore:release.sh "$output/provenance.json"; then
  echo "release.sh: the folder $output has files that are not a release: empty it, or choose another one with --output" >&2
  exit 2
fi
made="$PWD/build/release-pieces" # not build/release, a build of CMake; moved to FOLDER when all pieces are made
rm -rf "$made"
mkdir -p "$made"
here="$(uname -m)-linux-gnu"
targets=(x86_64-linux-gnu aarch64-linux-gnu x86_64-linux-musl aarch64-linux-musl)
[ -z "$quick" ] || targets=("$here")

make_python() {
  local target pythons=()
  python/wheel/sdist.sh "$made"
  if [ -n "$wheels" ]; then
    cp "$wheels"/billcore-*.whl "$made"
    return
  fi
  [ -z "$quick" ] || pythons=("$(bc_python)")
  for target in "${targets[@]}"; do python/wheel/build.sh --target "$target" --output "$made" "${pythons[@]}"; done
}
make_rust() { capi/rust/package.sh "$made" ${quick:+--no-verify}; }
make_go() { capi/go/package.sh "$made" "${targets[@]}"; }
make_c() { capi/package/build.sh "$made"; }

for piece in "${pieces[@]}"; do
  bc_say "packaging for $piece"
  "make_$piece"
done
python3 python/wheel/manifest.py "$made"
rm -rf "$output"
mkdir -p "$(dirname "$output")"
mv "$made" "$output"
bc_say "the release is in $output"
