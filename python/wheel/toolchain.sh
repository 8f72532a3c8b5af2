# shellcheck shell=bash disable=SC2034,SC2154
# Defines the compiler and its targets; the scripts of this folder source this file after tests/setup.sh. The compiler
# is zig's clang. The Python package ziglang contains, for every target, the symbols of old glibc releases and the C++
# run-time library as a static archive.

wheel_folder="$(dirname "${BASH_SOURCE[0]}")"
wheel_targets=(x86_64-linux-gnu aarch64-linux-gnu x86_64-linux-musl aarch64-linux-musl)

# wheel_use TARGET: sets wheel_platform (the wheel's tag), wheel_zig and wheel_triple, and makes the folder
# $wheel_tools with the compilers.
wheel_use() {
  local target="$1" processor="${1%%-*}" requirement
  case "$target" in
    *-linux-gnu) wheel_triple="$target.2.17" wheel_platform="manylinux_2_17_$processor.manylinux2014_$processor" ;;
    *-linux-musl) wheel_triple="$target" wheel_platform="musllinux_1_2_$processor" ;;
  esac
  requirement="$(grep '^ziglang==' "$wheel_folder/requirements.txt")"
  wheel_python="$(bc_venv "$requirement")"/bin/python
  wheel_zig="$("$wheel_python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')"
  wheel_tools="$bc_cache/${requirement/==/-}-$target"
  grep -qsF "$wheel_zig" "$wheel_tools/ar" || rm -rf "$wheel_tools" # scripts for a zig that was elsewhere
  bc_once "$wheel_tools" wheel_make_tools >&2
  # ccache identifies the compiler by the content of its wrapper script, which contains the path of zig.
  export CCACHE_COMPILERCHECK=content ZIG_GLOBAL_CACHE_DIR="$bc_cache/zig" ZIG_LOCAL_CACHE_DIR="$bc_cache/zig"
}

wheel_make_tools() {
  mkdir -p "$wheel_tools"
  local name
  # The names clang and clang++ tell ccache and OpenSSL what kind of compiler a wrapper script runs.
  for name in clang=cc clang++=c++; do
    printf '#!/bin/sh\nexec %q %s -target %s "$@"\n' "$wheel_zig" "${name#*=}" "$wheel_triple" >"$wheel_tools/${name%=*}"
  done
  for name in ar ranlib; do printf '#!/bin/sh\nexec %q %s "$@"\n' "$wheel_zig" "$name" >"$wheel_tools/$name"; done
  chmod +x "$wheel_tools"/*
}

# wheel_pin SOURCE KEY: prints a value from sources.toml.
wheel_pin() {
  "$wheel_python" -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))[sys.argv[2]][sys.argv[3]])' \
    "$wheel_folder/sources.toml" "$1" "$2"
}
