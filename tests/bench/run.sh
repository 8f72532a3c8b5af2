#!/usr/bin/env bash
# Measures billcore against the best other libraries, on a fresh Debian 12 machine (as root, or with the packages
# installed):
#   tests/bench/run.sh                 lists the areas
#   tests/bench/run.sh webhook         measures (some minutes); writes all tables and the chart to build/bench/results/
#   tests/bench/run.sh webhook --write-readme   also updates the area's table in tests/bench/README.md and its chart
#   tests/bench/run.sh webhook --quick          only shows that everything works; writes build/bench/results/quick/
# The Python programs use the wheel of python/wheel/build.sh; with BILLCORE_BENCH=source they use what `pip install
# .` builds.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
. tests/setup.sh

areas=(webhook rest pages ffi bulk cold)
area="${1:-}"
if [ -z "$area" ]; then
  printf '%s\n' "${areas[@]}"
  exit 0
fi
case " ${areas[*]} " in
  *" $area "*) shift ;;
  *) echo "tests/bench/run.sh: there is no area '$area'; there are: ${areas[*]}" >&2; exit 2 ;;
esac
case "$*" in
  "" | --quick | --write-readme) ;;
  *) echo "tests/bench/run.sh: unknown options '$*'; give one of: --quick --write-readme" >&2; exit 2 ;;
esac

bc_packages build-essential ca-certificates ccache cmake golang-go libcurl4-openssl-dev \
  libnginx-mod-http-echo libssl-dev nginx-light ninja-build openssl python3 python3-dev python3-pip python3-venv zlib1g-dev
bc_ccache "$root"
mkdir -p build/bench/logs

quietly() { # NAME COMMAND…
  bc_say "$1" >&2
  bc_quietly "$1" "build/bench/logs/$1.log" "${@:2}"
}

# Use Debian's interpreter, which is an optimised build. The first python3 in PATH may be slower: pyenv's default
# builds, for example, are not optimised.
bc_python() { echo /usr/bin/python3.11; }

# Installs the other libraries, and billcore's package if the tree has changed since the last installation.
mapfile -t requirements < <(grep -v '^#' "tests/bench/requirements/$area.txt")
venv="$(bc_venv "${requirements[@]}")"
python="$venv/bin/python"
tree="${BILLCORE_BENCH:-wheel} $(bc_tree_hash core python pyproject.toml CMakeLists.txt)"
if [ "$(cat "$venv/billcore-tree" 2>/dev/null)" != "$tree" ]; then
  rm -f "$venv/billcore-tree"
  package=.
  if [ "${BILLCORE_BENCH:-wheel}" = wheel ]; then
    rm -rf build/bench/wheel
    quietly wheel python/wheel/build.sh --output build/bench/wheel "$(bc_python)"
    package="$(echo build/bench/wheel/*.whl)"
  fi
  quietly pip-install "$python" -m pip install --disable-pip-version-check --no-deps --force-reinstall "$package"
  echo "$tree" >"$venv/billcore-tree"
fi

options=() targets=(turns-native)
case "$area" in
  bulk) targets=() ;;
  ffi)
    bc_rust_packages
    PATH="$(bc_rust):$(bc_go):$PATH"
    options=("-DBILLCORE_CARGO_TARGET=$bc_cache/rust-bench")
    targets+=(turns-go turns-rust)
    ;;
  rest | pages)
    newest="$(tests/libcurl.sh newest)"
    quietly configure-newest cmake -S tests/bench -B build/bench/newest -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$newest"
    quietly build-newest cmake --build build/bench/newest -j "$bc_jobs" --target turns-native
    bc_rust_packages
    PATH="$(bc_rust):$(bc_go):$PATH"
    options=("-DBILLCORE_CARGO_TARGET=$bc_cache/rust-bench")
    targets+=(turns-go turns-rust)
    ;;
esac
if [ "${#targets[@]}" != 0 ]; then
  quietly configure cmake -S tests/bench -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}"
  quietly build cmake --build build/bench -j "$bc_jobs" --target "${targets[@]}"
fi

bc_say "$area" >&2
exec "$python" -m "tests.bench.$area" --programs build/bench "$@"
