#!/usr/bin/env bash
# Benchmarks beside the best of the others, on a fresh Debian 12 machine (as root, or with the packages installed):
#   tests/bench/run.sh                 lists the areas
#   tests/bench/run.sh webhook         measures (some minutes); writes tests/bench/results/
#   tests/bench/run.sh webhook --write-readme   puts the tables into tests/bench/README.md, too
#   tests/bench/run.sh webhook --quick          only shows that everything works; writes build/bench/results/
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
. tests/setup.sh

areas=(webhook)
area="${1:-}"
if [ -z "$area" ]; then
  printf '%s\n' "${areas[@]}"
  exit 0
fi
case " ${areas[*]} " in
  *" $area "*) shift ;;
  *) echo "tests/bench/run.sh: there is no area '$area'; there are: ${areas[*]}" >&2; exit 2 ;;
esac
results=tests/bench/results
for option in "$@"; do
  case "$option" in
    --quick) results=build/bench/results ;;
    --write-readme) ;;
    *) echo "tests/bench/run.sh: unknown option '$option'; there are: --quick --write-readme" >&2; exit 2 ;;
  esac
done

bc_packages build-essential ca-certificates ccache cmake libbenchmark-dev libcurl4-openssl-dev libssl-dev ninja-build openssl \
  python3-dev python3-pip python3-venv
export CCACHE_DIR="$bc_cache/ccache" CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=2G
export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
log="$root/build/bench/logs"
mkdir -p "$log"

quietly() { # NAME COMMAND…: the output goes to a log, and to the screen when the command fails
  local name="$1"
  shift
  bc_say "$name" >&2
  if ! "$@" >"$log/$name.log" 2>&1; then
    tail -n 40 "$log/$name.log" >&2
    echo "$name failed; the whole log is build/bench/logs/$name.log" >&2
    exit 1
  fi
}

# The peers, and beside them the package of this tree as `pip install .` makes it; installed again only when the tree has changed.
mapfile -t requirements < <(grep -v '^#' tests/bench/requirements.txt)
venv="$(bc_venv "${requirements[@]}")"
python="$venv/bin/python"
tree="$(bc_tree_hash core python pyproject.toml CMakeLists.txt)"
if [ "$(cat "$venv/billcore-tree" 2>/dev/null)" != "$tree" ]; then
  rm -f "$venv/billcore-tree"
  quietly pip-install "$python" -m pip install --disable-pip-version-check --no-deps --force-reinstall .
  echo "$tree" >"$venv/billcore-tree"
fi

quietly configure cmake -S tests/bench -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release
quietly build cmake --build build/bench -j "$bc_jobs" --target webhook-bench

# One processor for all of it: what moves between two is measured as a difference.
bc_say "$area" >&2
exec taskset -c "$(($(nproc) - 1))" "$python" -m "tests.bench.$area" --program build/bench/webhook-bench --results "$results" "$@"
