#!/usr/bin/env bash
# Builds and checks self-contained wheels, one for each PYTHON.
#   python/wheel/build.sh [--target TARGET] [--output FOLDER] [PYTHON…]
# TARGET: x86_64-linux-gnu, aarch64-linux-gnu, x86_64-linux-musl or aarch64-linux-musl; README.md says how each is
# tested. By default the GNU target of this machine.
# PYTHON: CPython interpreters of this machine, 3.11 or newer; by default one of each release, and of each free-threaded
# release.
# FOLDER: the folder for the wheels; by default dist.
# Works on a fresh Debian 12 machine, as root or with the needed packages installed. README.md of this folder says more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
. python/wheel/toolchain.sh

target="$(uname -m)-linux-gnu"
output=dist
pythons=()
while [ "$#" -gt 0 ]; do
  case "$1" in
    --target) target="${2:?--target needs a target}"; shift ;;
    --output) output="${2:?--output needs a folder}"; shift ;;
    -*) echo "python/wheel/build.sh: there is no option '$1'" >&2; exit 2 ;;
    *) pythons+=("$1") ;;
  esac
  shift
done

case " ${wheel_targets[*]} " in
  *" $target "*) ;;
  *) echo "there is no target '$target'; there are: ${wheel_targets[*]}" >&2; exit 2 ;;
esac

# Prints one CPython interpreter of this machine for each release: the first in the list below.
find_pythons() {
  local python release
  local -A found=()
  for python in python3 python3.{11,12,13,14} python3.{13,14}t /usr/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    release="$("$python" -c 'import sys, venv, ensurepip; print(sys.implementation.name == "cpython" and "%d.%d" % sys.version_info[:2] + sys.abiflags)' 2>/dev/null)" || continue
    case "$release" in 3.1[1-9] | 3.1[3-9]t) ;; *) continue ;; esac
    [ -z "${found[$release]:-}" ] || continue
    found[$release]=1
    echo "$python"
  done
}

bc_packages build-essential ca-certificates ccache cmake ninja-build perl python3 python3-dev python3-pip python3-venv
for python in "${pythons[@]}"; do
  "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.implementation.name != "cpython" or sys.version_info < (3, 11))' \
    >/dev/null 2>&1 </dev/null && "$python" -c 'print(1)' 2>/dev/null | grep -qx 1 || {
    echo "python/wheel/build.sh: $python is not a CPython 3.11 or newer with the module venv" >&2
    exit 2
  }
done
[ "${#pythons[@]}" -gt 0 ] || mapfile -t pythons < <(find_pythons)
[ "${#pythons[@]}" -gt 0 ] || { echo "python/wheel/build.sh: no CPython 3.11 or newer was found: install python3-dev" >&2; exit 1; }
wheel_use "$target"
bundle="$(python/wheel/dependencies.sh "$target")"
bc_ccache "$PWD"
unset CMAKE_ARGS # tests/run.sh sets CMAKE_ARGS to the path of one pybind11; here each interpreter uses its own
mapfile -t requirements < <(grep -v '^#' python/wheel/requirements.txt)

# Prints cpython-313, or cpython-313t for a free-threaded interpreter, as in the names of extension modules.
abi_of() { # PYTHON
  "$1" -c 'import sys; print(sys.implementation.cache_tag + sys.abiflags)'
}

build_wheel() { # PYTHON FOLDER: builds the wheel that finish.py completes
  local python="$1" abi option debian headers defines=()
  abi="$(abi_of "$python")"
  # The build uses this machine's CPython headers for all targets. Debian's pyconfig.h includes a second pyconfig.h
  # from a processor-specific folder, which the compiler searches only when it builds for the host: copy that folder.
  debian="/usr/include/$("$python" -c 'import sysconfig; print("%s/python%s" % tuple(sysconfig.get_config_vars("MULTIARCH", "VERSION")))')"
  headers="$PWD/build/wheel-headers-$target-$abi"
  rm -rf "$headers"
  mkdir -p "$headers/${target%%-*}-linux-gnu"
  [ ! -d "$debian" ] || cp -r "$debian" "$headers/${target%%-*}-linux-gnu"
  for option in BILLCORE_BUNDLE="$bundle" BILLCORE_STATIC_RUNTIME=OFF CMAKE_AR="$wheel_tools/ar" \
    CMAKE_RANLIB="$wheel_tools/ranlib" CMAKE_CXX_FLAGS="-isystem $headers" PYTHON_MODULE_EXTENSION=".$abi-$target.so" \
    PYTHON_MODULE_DEBUG_POSTFIX= ; do
    defines+=(--config-settings=cmake.define."$option")
  done
  CC="$wheel_tools/clang" CXX="$wheel_tools/clang++" _PYTHON_HOST_PLATFORM="linux-${target%%-*}" \
    "$python" -m pip wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$2" \
    --config-settings=build-dir="build/wheel-$target-$abi" "${defines[@]}"
}

mkdir -p "$output" build
for python in "${pythons[@]}"; do
  # Use the base interpreter, not a virtual environment's: the path of the headers then stays the same for ccache.
  python="$("$python" -c 'import os, sys; print(os.path.realpath(sys._base_executable))')"
  release="$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3] + sys.abiflags)')"
  bc_say "building the wheel for CPython $release on $target"
  venv="$(bc_venv_of "$python" "${requirements[@]}")"
  raw="build/wheel-raw-$target-$(abi_of "$python")"
  rm -rf "$raw"
  bc_quietly "building the wheel" "$raw.log" build_wheel "$venv/bin/python" "$raw"
  "$venv/bin/python" python/wheel/finish.py "$raw"/*.whl --platform "$wheel_platform" --output "$output" \
    --build-folders "$PWD" "$bc_cache"
done
