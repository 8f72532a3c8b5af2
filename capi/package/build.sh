#!/usr/bin/env bash
# Makes what a release has for C and C++, in the folder DIST: the source archive billcore-c-VERSION.tar.gz and the Debian
# packages libbillcore0, libbillcore-webhook0 and libbillcore-dev.
#   capi/package/build.sh DIST
# The packages are built from the archive. The same commit gives the same bytes on the same release of Debian.
# Works on a fresh Debian 12 machine, as root or with the needed packages installed.
set -euo pipefail
[ "$#" -eq 1 ] || { echo "usage: capi/package/build.sh DIST" >&2; exit 2; }
mkdir -p "$1"
dist="$(cd "$1" && pwd)"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh

bc_packages ca-certificates ccache cmake dpkg-dev g++ gcc git libcurl4-openssl-dev libssl-dev ninja-build python3 python3-pip \
  zlib1g-dev
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
umask 022 # the packages have the permissions of their folders from the build
work="$PWD/build/c-package" # the pieces are moved to DIST only when all of them are made
rm -rf "$work"
mkdir -p "$work/made"

bc_say "packing the source archive"
archive="$(python3 -B capi/package/archive.py "$work/made")"
tar -xzf "$archive" -C "$work"
source="$work/$(basename "$archive" .tar.gz)"

build_packages() {
  # Without a run path for the build folder: its length would change the bytes of the library.
  cmake -S "$source" -B "$source/build/debian" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_SKIP_RPATH=ON &&
    cmake --build "$source/build/debian" -j "$bc_jobs" &&
    cpack -G DEB -B "$work/cpack" --config "$source/build/debian/CPackConfig.cmake"
}
bc_say "building the Debian packages"
bc_ccache "$source"
bc_quietly "building the Debian packages" "$work/build.log" build_packages
mv "$work"/cpack/*.deb "$work/made/"
mv "$work"/made/* "$dist/"
(cd "$dist" && ls -l billcore-c-*.tar.gz libbillcore*.deb)
