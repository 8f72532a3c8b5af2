#!/usr/bin/env bash
# Builds the static library that the Go module links by default, and prints its folder:
#   capi/go/archive.sh TARGET
# TARGET is one of python/wheel/toolchain.sh. The folder has libbillcore.a, which contains billcore, libcurl, OpenSSL,
# nghttp2, zlib and the C++ run-time library, so that a program needs only a C compiler to link it. Every symbol but the
# C functions of billcore has a prefix, so a program may contain another libcurl, OpenSSL or C++ run-time library too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
. python/wheel/toolchain.sh
target="${1:?usage: capi/go/archive.sh TARGET}"
bc_packages ccache cmake llvm ninja-build
wheel_use "$target"
prefix=billcore_private_
bundle="$(python/wheel/dependencies.sh "$target" objects)"
sources=(CMakeLists.txt core capi/CMakeLists.txt capi/cmake capi/include capi/src)
key="$(printf '%s\n' "$bundle" "$(bc_tree_hash "${sources[@]}")" "$(<capi/go/archive.sh)" | sha256sum | cut -c1-16)"
folder="$bc_cache/go-archive-$target-$key"
made="$PWD/build/go-archive-$target" # in the tree, so that the paths in the objects are relative

compile() {
  cmake -S . -B "$made" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="${target%%-*}" -DCMAKE_C_COMPILER="$wheel_tools/clang" \
    -DCMAKE_CXX_COMPILER="$wheel_tools/clang++" -DCMAKE_AR="$wheel_tools/ar" -DCMAKE_RANLIB="$wheel_tools/ranlib" \
    -DBILLCORE_BUNDLE="$bundle" &&
    cmake --build "$made" -j "$bc_jobs" --target billcore_c_static billcore_c_webhook_static
}

# Prints the archives of the C++ run-time library, which zig compiles when it first links with it.
runtime() {
  echo 'int main() { throw 1; }' >"$work/throws.cpp"
  "$wheel_tools/clang++" -v -shared -fPIC -O2 "$work/throws.cpp" -o "$work/throws" 2>&1 |
    grep -oE '/[^ ]*/lib(c\+\+|c\+\+abi|unwind)\.a'
}

# unpack NAME ARCHIVE: puts the objects of an archive into $work/objects, under names that no other archive has.
unpack() {
  local object
  mkdir "$work/$1" && (cd "$work/$1" && llvm-ar x "$2") || return
  for object in "$work/$1"/*; do mv "$object" "$work/objects/$1-${object##*/}" || return; done
}

# rename_symbols MAP OBJECT…: each line of MAP has an old name and a new one
rename_symbols() {
  local object
  for object in "${@:2}"; do llvm-objcopy --strip-unneeded --redefine-syms="$1" "$object" || return; done
}

join() {
  local archive name objects
  mkdir "$work/objects"
  for name in curl ssl crypto nghttp2 z; do unpack "$name" "$bundle/lib/lib$name.a" || return; done
  unpack billcore "$made/capi/libbillcore.a" && unpack webhook "$made/capi/libbillcore-webhook.a" || return
  for archive in $(runtime); do unpack "$(basename "$archive" .a)" "$archive" || return; done
  [ -n "$(find "$work/objects" -name 'libc++abi-*')" ] || { echo "zig did not name its C++ run-time library"; return 1; }

  # In the wheel the linker redirects these calls of libcurl (core/cmake/dependencies.cmake); here the names change.
  for name in send nghttp2_session_callbacks_set_on_{frame_recv,stream_close,begin_headers}_callback; do
    echo "$name __wrap_$name" >>"$work/calls"
    echo "__real_$name $name" >>"$work/own"
  done
  rename_symbols "$work/calls" "$work"/objects/curl-* && rename_symbols "$work/own" "$work"/objects/billcore-* || return

  objects=("$work"/objects/*)
  llvm-nm --defined-only --extern-only --format=posix "${objects[@]}" | LC_ALL=C awk -v prefix="$prefix" \
    'NF > 1 && $1 !~ /^billcore_/ { print $1, prefix $1 }' | LC_ALL=C sort -u >"$work/private"
  rename_symbols "$work/private" "${objects[@]}" && (cd "$work/objects" && llvm-ar rcsD "$folder/libbillcore.a" ./*)
}

build() {
  bc_ccache "$PWD"
  bc_say "building libbillcore.a for $target"
  work="$folder/work"
  mkdir -p "$work"
  bc_quietly "compiling billcore" "$folder/compile.log" compile &&
    bc_quietly "joining the objects" "$folder/join.log" join || return
  rm -rf "$work"
}

bc_once "$folder" build >&2
echo "$folder"
