#!/usr/bin/env bash
# Packs the Rust crates, builds each packed crate, and makes a local registry of cargo: package.sh DIST [--no-verify].
# DIST/cargo then has the .crate files, as they can be uploaded, and config.toml, which `cargo --config` reads.
# Works on a Debian 12 machine with Rust 1.90 or newer, as root or with the needed packages installed.
set -euo pipefail
dist="$(realpath -m "${1:?usage: capi/rust/package.sh DIST [--no-verify]}")"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
bc_packages build-essential ccache libcurl4-openssl-dev libssl-dev pkg-config python3 python3-pip zlib1g-dev
bc_rust_packages
rust="$(bc_rust 90)" || {
  echo "capi/rust/package.sh: only Rust 1.90 or newer packs crates that depend on each other: install it" >&2
  exit 1
}
PATH="$rust:$PATH"

# A copy, because the crates must contain files from outside of their folders.
stage="$PWD/build/crates"
rm -rf "$stage"
mkdir -p "$stage/source" "$stage/cargo"
cp -r capi/rust/*/ capi/rust/Cargo.toml "$stage/source"
rm -rf "$stage/source/target" "$stage"/source/*/generate.sh
python3 python/wheel/index_page.py capi/rust/README.md >"$stage/source/README.md" # its links lead into the tree
for crate in "$stage"/source/*/; do cp LICENSE "$crate"; done
src="$stage/source/billcore-src"
mkdir -p "$src"/{capi,core/{cmake,third_party}}
cp -r capi/{CMakeLists.txt,include,src} "$src/capi"
cp -r core/{CMakeLists.txt,include,src} "$src/core"
cp core/cmake/{dependencies,nanoarrow}.cmake "$src/core/cmake"
for name in yyjson nanoarrow; do
  third_party="core/third_party/$name" # in a source archive
  [ -d "$third_party" ] || third_party="$(python3 core/cmake/fetch_source.py "$name")"
  cp -r "$third_party" "$src/core/third_party/$name"
done

# cargo fixes the times and the owners in a .crate file, so the same sources give the same bytes. The versions that
# Cargo.lock would name change from day to day.
export CARGO_TARGET_DIR="$PWD/build/crates-target"
pack() {
  cd "$stage/source"
  cargo publish --workspace --dry-run --no-verify
  rm -rf "$CARGO_TARGET_DIR/package" # the .crate files of `cargo publish` have Cargo.lock
  cargo package --workspace --exclude-lockfile "$@"
}
if [ "${2:-}" = --no-verify ]; then
  (bc_quietly "packing the crates" "$stage.log" pack --no-verify)
else
  # cargo compiles the same C++ for several crates; their folders differ.
  export CC="ccache cc" CXX="ccache c++"
  bc_ccache /
  (bc_quietly "packing the crates" "$stage.log" pack --features vendored)
fi
cp "$CARGO_TARGET_DIR"/package/*.crate "$stage/cargo"
python3 capi/rust/registry.py "$stage/source" "$stage/cargo"
rm -rf "$dist/cargo"
mkdir -p "$dist"
cp -r "$stage/cargo" "$dist/cargo"
