#!/usr/bin/env bash
# Builds one of the two libcurl releases that the tests use besides Debian's, and prints its installation folder:
#   tests/libcurl.sh oldest|newest
# oldest: the release that core/CMakeLists.txt requires, without Debian's patches. newest: the latest release that a
# package registry has. The sources come from two releases of the Cargo crate curl-sys, each pinned by its hash. The
# script builds each libcurl release once; later runs find its folder in the cache.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/setup.sh

case "${1:-}" in
  oldest) crate=0.4.60+curl-7.88.1 hash=717abe2cb465a5da6ce06617388a3980c9a2844196734bec8ccb8e575250f13f ;;
  newest) crate=0.4.91+curl-8.22.0 hash=cd39579123e45bf762716bb893d43886ed1cabe6289455be29a4f1d4e37afb06 ;;
  *) echo "usage: tests/libcurl.sh oldest|newest" >&2; exit 2 ;;
esac
release="${crate#*+curl-}"
# Perl is disabled, because only the documentation needs it, and the crate does not contain the documentation.
options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_DISABLE_FIND_PACKAGE_Perl=ON
  -DBUILD_SHARED_LIBS=ON -DBUILD_CURL_EXE=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF -DHTTP_ONLY=ON
  -DCURL_USE_OPENSSL=ON -DUSE_NGHTTP2=ON -DCURL_ZLIB=ON -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_USE_LIBPSL=OFF
  -DCURL_USE_LIBSSH2=OFF -DUSE_LIBIDN2=OFF)
# Use Debian's symbol version, so that programs built against Debian's libcurl run with the one built here.
symbols='CURL_OPENSSL_4 { global: curl_*; local: *; };'
folder="$bc_cache/libcurl-$release-$(printf '%s\n' "$hash" "${options[@]}" "$symbols" | sha256sum | cut -c1-16)"

build() {
  bc_packages build-essential ca-certificates ccache cmake libnghttp2-dev libssl-dev ninja-build pkg-config zlib1g-dev
  bc_ccache "$PWD"
  bc_say "building libcurl $release"
  local work="$folder/work" source
  mkdir -p "$work"
  source="$(bc_crate curl-sys "$crate" "$hash")/curl"
  echo "$symbols" >"$work/symbols.map"
  bc_quietly "configuring libcurl $release" "$folder/configure.log" \
    cmake -S "$source" -B "$work/build" -G Ninja "${options[@]}" -DCMAKE_INSTALL_PREFIX="$folder" \
    -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--version-script=$work/symbols.map"
  bc_quietly "building libcurl $release" "$folder/build.log" cmake --build "$work/build" -j "$bc_jobs" --target install
  rm -rf "$work"
}

bc_once "$folder" build >&2
echo "$folder"
