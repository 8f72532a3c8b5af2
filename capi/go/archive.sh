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
export LC_ALL=C # the order of names
bundle="$(python/wheel/dependencies.sh "$target" objects)"
sources=(CMakeLists.txt {core,capi}/{CMakeLists.txt,cmake,include,src})
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

# Copies the C++ run-time library, which zig compiles when it first links with it, into the current folder. The names of
# zig's objects are the paths of its cache.
copy_runtime() {
  local archive name found
  echo 'int main() { throw 1; }' >"$work/throws.cpp"
  found="$("$wheel_tools/clang++" -v -shared -fPIC -O2 "$work/throws.cpp" -o "$work/throws" 2>&1)" || return
  for name in libc++ libc++abi libunwind; do
    archive="$(grep -oE "/[^ ]*/${name//+/[+]}\.a" <<<"$found" | head -n 1)"
    [ -n "$archive" ] || { echo "zig did not name its $name.a"; return 1; }
    mkdir "$work/$name" && (cd "$work/$name" && llvm-ar x "$archive" && llvm-ar qcsD "$objects/$name.a" ./*.o) || return
    [ "$(llvm-ar t "$name.a" | wc -l)" -eq "$(llvm-ar t "$archive" | wc -l)" ] || { echo "two objects of $name.a have one name"; return 1; }
  done
}

join() ( # in a shell of its own, which changes the folder
  objects="$work/objects"
  mkdir "$objects" && cd "$objects" || return
  cp "$made"/capi/libbillcore.a "$made"/capi/libbillcore-webhook.a "$bundle"/lib/lib{curl,ssl,crypto,nghttp2,z}.a . || return
  copy_runtime || return

  # In the wheel the linker redirects these calls of libcurl (core/cmake/dependencies.cmake); here the names change.
  for name in send nghttp2_session_callbacks_set_on_{frame_recv,stream_close,begin_headers}_callback; do
    echo "$name __wrap_$name" >>"$work/calls"
    echo "__real_$name $name" >>"$work/own"
  done
  llvm-objcopy --redefine-syms="$work/calls" libcurl.a && llvm-objcopy --redefine-syms="$work/own" libbillcore.a || return

  llvm-nm --defined-only --extern-only --format=posix ./*.a | awk -v prefix="$prefix" \
    'NF > 1 && $1 !~ /^billcore_/ { print $1, prefix $1 }' | sort -u >"$work/private"
  for name in *.a; do llvm-objcopy --strip-unneeded --redefine-syms="$work/private" "$name" || return; done
  llvm-ar qcsDL "$folder/libbillcore.a" ./*.a
)

build() {
  bc_ccache "$PWD"
  bc_say "building libbillcore.a for $target"
  work="$folder/work"
  mkdir -p "$work"
  bc_quietly "compiling billcore" "$folder/compile.log" compile &&
    bc_quietly "joining the libraries" "$folder/join.log" join || return
  rm -rf "$work"
}

bc_once "$folder" build >&2
echo "$folder"
