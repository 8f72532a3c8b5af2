#!/usr/bin/env bash
# Runs the tests of billcore on a fresh Debian 12 machine, as root, or with the packages of the wanted areas installed:
#   tests/run.sh              everything, as CI runs it
#   tests/run.sh quick        five areas without sanitizers and clang-tidy, each test once; for use while editing
#   tests/run.sh AREA…        only these areas; tests/run.sh --list prints all areas, in groups
#   tests/run.sh AREA -k NAME only the tests whose names contain NAME: -k for pytest, a wildcard pattern for
#                             GoogleTest; other test programs run whole
# Several areas run at the same time; each test runner then prints one line, and the end of its output if it fails. If
# only one area runs, it prints its whole output. build/logs always has the whole output.
# BILLCORE_TORTURE=all runs every point of the area torture; BILLCORE_LIBCURL=all runs every fault in the area libcurl.
# BILLCORE_PROOF=all: the proofs of the areas journal and inbox make more charges and deliveries, which takes minutes.
# BILLCORE_SPARK=1: the area bulk also runs its tests on Spark itself, and installs a Java runtime for it.
# BILLCORE_WHEEL_PYTHON=PATH: the CPython (3.11 or newer) whose wheel the area wheel builds and tests.
# BILLCORE_PACKAGERS=all: the area meets also packs a program with Nuitka and into one file, which takes minutes.
# BILLCORE_MODEL_SECONDS=N: the area faults runs the model of HTTP connections with random seeds for N seconds.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
. tests/setup.sh

# The longest areas are first: each parallel job (run_lane) takes the next area of this list, so all jobs end at about
# the same time.
all_areas=(lint python wheel conformance fuzz go release rust install libcurl faults examples tsan core torture valgrind
  sandbox journal inbox cli bulk meets layering)
quick_areas=(quick_python quick_conformance quick_core quick_sandbox quick_lint)
most_lanes=3

list_areas() {
  local group
  for group in "daily: the parts, for each change" "deep: the same code under faults, tools and random input" \
    "outside: other languages, packages and programs"; do
    echo "$group"
    sed -nE "s/^# ${group%%:*} ([a-z]+): (.*)/\t\1\t\2/p" tests/areas.sh | expand -t 2,16
  done
}

filter=""
areas=()
while [ "$#" -gt 0 ]; do
  case "$1" in
    -k) filter="${2:?-k needs a name}"; shift ;;
    --list) list_areas; exit ;;
    *) areas+=("$1") ;;
  esac
  shift
done
for area in "${areas[@]}"; do
  case " ${all_areas[*]} quick " in
    *" $area "*) ;;
    *) echo "tests/run.sh: there is no area '$area'; there are: quick ${all_areas[*]}" >&2; exit 2 ;;
  esac
done
wanted=()
for area in "${all_areas[@]}"; do
  [ "${#areas[@]}" -gt 0 ] || wanted+=("$area")
  case " ${areas[*]} " in *" $area "*) wanted+=("$area") ;; esac
done
case " ${areas[*]} " in *" quick "*) wanted+=("${quick_areas[@]}") ;; esac
lane_count="$((${#wanted[@]} < most_lanes ? ${#wanted[@]} : most_lanes))"

# The packages that an area needs besides those of every build. They are installed before the areas start, because
# parallel calls of `apt-get update` fail. Without root, a missing package ends the run only if one of the wanted areas
# needs it.
packages_of() { # AREA
  case "${1#quick_}" in
    lint) echo clang-format doxygen golang-go shellcheck ;;
    layering) echo clang-format golang-go ;;
    core) echo clang ;;
    inbox) echo golang-go postgresql ;;
    journal | cli) echo postgresql ;;
    meets) echo chromium doxygen fonts-dejavu-core libmariadb-dev mariadb-server-core nginx-light pgbouncer postgresql redis-server ;;
    bulk) [ "${BILLCORE_SPARK:-}" != 1 ] || echo default-jre-headless ;;
    release)
      echo debootstrap golang-go llvm
      type -P npm >/dev/null || echo npm
      ;;
    wheel) echo golang-go iproute2 postgresql ;;
    libcurl) echo iproute2 libnghttp2-dev ;;
    faults) echo golang-go iproute2 ;;
    go) echo golang-go ;;
    examples) echo golang-go libglib2.0-dev libuv1-dev ;;
    rust) echo clang libclang1-14 ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    valgrind) echo valgrind ;;
  esac
}
mapfile -t needed < <(for area in "${wanted[@]}"; do packages_of "$area"; done | tr ' ' '\n' | sort -u)
bc_packages build-essential ca-certificates ccache cmake git libcurl4-openssl-dev libgtest-dev libmicrohttpd-dev libssl-dev \
  ninja-build openssl pkg-config python3-dev python3-pip python3-venv zlib1g-dev "${needed[@]}"
case " ${wanted[*]} " in
  *lint* | *" layering "* | *" inbox "* | *" rust "* | *" examples "* | *" faults "* | *" wheel "* | *" release "*)
    (bc_rust_packages) || true ;; # if Rust is missing, the area rust reports it
esac
if rust_folder="$(bc_rust)"; then PATH="$PATH:$rust_folder"; fi
mapfile -t requirements < <(grep -v '^#' tests/requirements.txt)
venv="$(bc_venv "${requirements[@]}")"
python="$venv/bin/python"
export PATH="$venv/bin:$PATH"
"$python" python/sandbox/hatch_build.py # for areas that run the sandbox from this tree

bc_ccache "$root"
# Thousands of tests start a Python, which without bytecode files compiles its modules each time.
unset PYTHONDONTWRITEBYTECODE
# ccache reuses an object only if the paths and the compiler's name are the same. pip makes a new build environment
# each time, so pybind11 comes from `venv` instead. The compilers are cc and c++, as in the presets.
CMAKE_ARGS="-Dpybind11_DIR=$("$python" -m pybind11 --cmakedir) -DCMAKE_C_COMPILER=cc -DCMAKE_CXX_COMPILER=c++"
export CMAKE_ARGS

log="$root/build/logs"
mkdir -p "$log"

quietly() { bc_quietly "$1" "build/logs/$1.log" "${@:2}"; } # NAME COMMAND…

# Runs COMMAND, a build, for the first area that needs it; later areas reuse the result. Only one build runs at a time,
# because each build uses all processors and much memory.
state="$(mktemp -d)"
trap 'rm -rf "$state"' EXIT
once() { # NAME COMMAND…
  (
    set -e
    flock 8
    [ -e "$state/$1.built" ] || { "${@:2}" && touch "$state/$1.built"; }
  ) 8>"$state/building"
}
build_preset() { # PRESET [OPTION…]
  local preset="$1"
  bc_say "building $preset"
  quietly "configure-$preset" cmake --preset "$preset" -DPython_EXECUTABLE="$python" -DPython3_EXECUTABLE="$python" \
    -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)" "${@:2}"
  quietly "build-$preset" cmake --build "build/$preset" -j "$bc_jobs"
}
configure_and_build() { once "$1" build_preset "$@"; } # PRESET [OPTION…]

# The release build also has the conformance drivers, for tests that do not work with sanitizers.
build_release() { configure_and_build release -DBILLCORE_TESTS=ON -DBILLCORE_PYTHON=ON; }

# Installs this tree with `pip install`, as a user does, into a separate environment.
installed_python="$bc_cache/package-$(bc_tree_hash core python pyproject.toml CMakeLists.txt tests/requirements.txt)/bin/python"
make_package() { # FOLDER
  local beside
  mapfile -t beside < <(grep -E '^(aiosqlite|celery|django|duckdb|fastapi|flask|gevent|gunicorn|h2|httpx|hypothesis|kombu|msgspec|mypy|opentelemetry-sdk|pandas|polars|prometheus-client|pyarrow|pyrefly|pyright|pytest|pytest-xdist|pyyaml|rich|sqlalchemy|sybil|ty|uvicorn|uvloop)(\[[a-z]+\])?==' tests/requirements.txt)
  bc_say "pip install ./python/sandbox '.[sandbox]' into a clean environment"
  # The build folder is in the tree, so paths stay the same and ccache finds earlier objects.
  quietly pip-install bc_make_venv_on "$1" "$(bc_python)" --config-settings=build-dir=build/wheel ./python/sandbox \
    ".[sandbox]" -- "${beside[@]}"
}
install_package() {
  build_release # comes first, because it turns warnings into errors, and compiles most of what the package needs
  once package bc_once "${installed_python%/bin/python}" make_package "${installed_python%/bin/python}"
}

# Python must load AddressSanitizer's run-time before the modules. Leak detection is off, because Python itself leaks.
with_asan=(env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc
  ASAN_OPTIONS=detect_leaks=0)

# Tests mostly wait, so one more test process runs than there are processors. The tests of one file run in one process,
# in order.
at_once=(-n "$((bc_jobs + 1))" --dist loadfile)
[ -z "$filter" ] || at_once=(-k "$filter")

mkdir -p "$state/results"
printf '%s\n' "${wanted[@]}" >"$state/left"
run() { # NAME COMMAND…: runs a test runner; prints and stores its summary line and duration
  local name="$1" output="$log/test-$1.log" status=0 closing took TIMEFORMAT='%R s, processor %U + %S s'
  shift
  # A runner that waits for ever must fail and show its output. ctest_in and if_any have limits of their own.
  [ "$(type -t "$1")" = function ] || set -- timeout --foreground --kill-after=30 2400 "$@"
  if [ "$lane_count" -gt 1 ] || [ -n "${BILLCORE_QUIET:-}" ]; then
    took="$({ time "$@" >"$output" 2>&1; } 2>&1)" || status=$?
  else
    bc_say "$name"
    { time "$@" 2>&1 | tee "$output"; } 2>"$state/took" || status=$?
    took="$(tail -n 1 "$state/took")"
  fi
  closing="$(grep -aE '([0-9]+ (passed|failed|error)|tests passed|\[  PASSED  \]|no issues found|All checks passed)' "$output" | tail -n 1 | sed 's/^=* *//; s/ *=*$//' || true)"
  if [ "$status" -eq 0 ]; then
    closing="ok      $name: ${closing:-done}"
  else
    [ "$lane_count" -le 1 ] || { bc_say "$name failed"; tail -n 150 "$output"; }
    closing="FAILED  $name: ${closing:-status $status}"
  fi
  printf '%s\n' "$closing [$took]" | tee -a "$state/results/$lane"
}
ctest_in() { # FOLDER SECONDS [OPTION…]
  local options=(--test-dir "$1" --output-on-failure --timeout "$2" "${@:3}")
  if [ -n "$filter" ]; then
    # GTEST_FILTER selects tests within GoogleTest's programs. Each other test program is a single test, which always
    # runs.
    export GTEST_FILTER="*$filter*" GTEST_BRIEF=1
  fi
  ctest "${options[@]}"
}

. tests/areas.sh

next_area() { # removes the next area from the list and prints it
  (
    flock 7
    read -r area <"$state/left" || exit 1
    sed -i 1d "$state/left"
    echo "$area"
  ) 7>"$state/taking"
}
# One parallel job: runs one area after the other. A build that fails ends the job.
run_lane() {
  local area
  while area="$(next_area)"; do run_area "$area"; done
}

failed=0
lanes=()
for ((lane = 0; lane < lane_count; lane++)); do
  run_lane & # a background job, in which `set -e` takes effect
  lanes+=("$!")
done
for one in "${lanes[@]}"; do wait "$one" || failed=1; done

bc_say "result"
cat "$state"/results/* | tee "$log/results"
passed="$(grep -c '^ok ' "$log/results" || true)"
refused="$(grep -c '^FAILED ' "$log/results" || true)"
printf '%d passed, %d failed, %d min %d s\n' "$passed" "$refused" "$((SECONDS / 60))" "$((SECONDS % 60))"
[ "$refused" -eq 0 ] || failed=1
exit "$failed"
