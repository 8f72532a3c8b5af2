#!/bin/sh
# Installs a build, moves the installed folder, and builds programs against it with CMake (C and C++, shared and static)
# and with pkg-config.
# Usage: consumer.sh BUILD_FOLDER
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"  # so that a file that refers to the old path does not work
prefix=$work/prefix
if grep -rlF "$work/first" "$prefix"; then
  echo "these installed files hold the place they were installed to" >&2
  exit 1
fi

cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log" 2>&1 ||
  { cat "$work/cmake.log" >&2; exit 1; }
cmake --build "$work/cmake" >>"$work/cmake.log" 2>&1 || { cat "$work/cmake.log" >&2; exit 1; }
for program in small small-static large large-static small-cxx large-cxx; do
  "$work/cmake/$program" || { echo "$program failed" >&2; exit 1; }
done
# Builds the C programs as a CMake project whose only language is C. The first call of in_c links static and shared
# libraries. The second call links only shared libraries, with find_package() of OpenSSL, libcurl and zlib disabled.
in_c() { # NAME LINES_TO_DROP OPTION…
  folder=$work/$1
  mkdir "$folder"
  cp "$here"/*.c "$folder"
  sed "s/ CXX)/)/; /CXX_STANDARD/d; /-cxx/d; $2" "$here/CMakeLists.txt" >"$folder/CMakeLists.txt"
  shift 2
  { cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" "$@" && cmake --build "$folder/build"; } \
    >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
}
in_c c-only ""
"$work/c-only/build/small-static" && "$work/c-only/build/large-static" || { echo "a project in C alone failed" >&2; exit 1; }
in_c no-development-files /-static/d -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON -DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
"$work/no-development-files/build/large" || { echo "the shared libraries need development files" >&2; exit 1; }
# find_package() must fail for a component that does not exist, and its error must name the component.
mkdir "$work/missing"
printf 'cmake_minimum_required(VERSION 3.24)\nproject(missing LANGUAGES C)\nfind_package(billcore REQUIRED COMPONENTS turbo)\n' \
  >"$work/missing/CMakeLists.txt"
if cmake -S "$work/missing" -B "$work/missing/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/missing.log" 2>&1; then
  echo "find_package found a component that does not exist" >&2
  exit 1
fi
grep -q 'no component `turbo`' "$work/missing.log" || { cat "$work/missing.log" >&2; exit 1; }

for licence in LICENSE yyjson.txt nanoarrow.txt; do
  [ -s "$prefix/share/licenses/billcore/$licence" ] || { echo "the licence $licence is not installed" >&2; exit 1; }
done
pc=$(find "$prefix" -name billcore.pc)
libdir=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
cc=${CC:-cc}
flags="-std=c11 -Wall -Wextra -Wpedantic -Werror"
# shellcheck disable=SC2046,SC2086  # lists of words
{
  $cc $flags "$here/small.c" -o "$work/pc-small" $(pkg-config --cflags --libs billcore-webhook)
  $cc $flags "$here/large.c" -o "$work/pc-large" $(pkg-config --cflags --libs billcore)
  # pkg-config must succeed although it cannot find OpenSSL, libcurl and zlib here.
  PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH pkg-config --cflags --libs billcore >/dev/null
  LD_LIBRARY_PATH=$libdir "$work/pc-small"
  LD_LIBRARY_PATH=$libdir "$work/pc-large"
  # The pkg-config packages whose names end with -static must link the static libraries, although the shared libraries
  # are in the same folder.
  $cc $flags "$here/small.c" -o "$work/pc-small-archive" $(pkg-config --cflags --libs billcore-webhook-static)
  $cc $flags "$here/large.c" -o "$work/pc-large-archive" $(pkg-config --cflags --libs billcore-static)
  if readelf -d "$work/pc-small-archive" "$work/pc-large-archive" | grep -F libbillcore; then
    echo "the static pkg-config names link the shared libraries" >&2
    exit 1
  fi
  "$work/pc-small-archive"
  "$work/pc-large-archive"
  # Links with `pkg-config --static` against a copy of the installed tree without shared libraries.
  mkdir "$work/archives"
  cp -R "$prefix/." "$work/archives"
  find "$work/archives" -name 'libbillcore*.so*' -exec rm -f {} +
  PKG_CONFIG_PATH=$(dirname "$(find "$work/archives" -name billcore.pc)")
  $cc $flags "$here/small.c" -o "$work/pc-small-static" $(pkg-config --static --cflags --libs billcore-webhook)
  $cc $flags "$here/large.c" -o "$work/pc-large-static" $(pkg-config --static --cflags --libs billcore)
}
"$work/pc-small-static"
"$work/pc-large-static"
if ldd "$work/pc-small" "$work/pc-small-static" | grep -i curl; then
  echo "the webhook half pulls in an HTTP stack" >&2
  exit 1
fi

# Loads another libcrypto first, whose functions end the process. Our libraries call the OpenSSL they were linked with,
# because OpenSSL's symbols have versions; a libcrypto without versions shows that the functions would be called.
{
  printf '#include <stdio.h>\n#include <stdlib.h>\n'
  nm -D --undefined-only "$libdir/libbillcore-webhook.so" | sed -n 's/.* U \([A-Za-z0-9_]*\)@OPENSSL_.*/\1/p' |
    sed 's/.*/void &(void); void &(void) { fputs("a foreign &\\n", stderr); _Exit(99); }/'
} >"$work/foreign.c"
printf 'OPENSSL_999 { global: *; };\n' >"$work/foreign.map"
$cc -fPIC -shared "$work/foreign.c" -o "$work/foreign.so" -Wl,--version-script="$work/foreign.map"
$cc -fPIC -shared "$work/foreign.c" -o "$work/plain.so"
for program in pc-large pc-large-archive; do
  LD_LIBRARY_PATH=$libdir LD_PRELOAD=$work/foreign.so "$work/$program" || { echo "$program failed beside another libcrypto" >&2; exit 1; }
  if LD_LIBRARY_PATH=$libdir LD_PRELOAD=$work/plain.so "$work/$program" 2>"$work/log"; then cat "$work/log" >&2; exit 1; fi
  grep -q '^a foreign ' "$work/log" || { cat "$work/log" >&2; exit 1; }
done

# Measures a C program linked with the static libbillcore-webhook. capi/README.md states the size of this program; the
# limit is 1.25 times the stated size.
PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046,SC2086
$cc $flags -O2 "$here/small.c" -o "$work/stripped" $(pkg-config --cflags --libs billcore-webhook-static) -Wl,--gc-sections
strip "$work/stripped"
size=$(stat -c %s "$work/stripped")
limit=244000
echo "a stripped program with the archive of the webhook half: $size bytes, at most $limit are allowed"
case $(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt") in
  Release | RelWithDebInfo | MinSizeRel) [ "$size" -le "$limit" ] || { echo "it has grown too large" >&2; exit 1; } ;;
esac
echo "installed tree: CMake and pkg-config, shared and static, all fine"
