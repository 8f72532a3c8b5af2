#!/usr/bin/env bash
# Every test of billcore with one command, on a fresh Debian 12 machine (as root, or with the packages installed):
#   tests/run.sh              everything, as CI runs it
#   tests/run.sh quick        the cheap part of lint, and every unit and contract test once: for the inner loop
#   tests/run.sh AREA…        only these: lint layering interface core capi python sandbox conformance serverless faults
#                             libcurl install wheel proof torture fuzz tsan examples go rust
#   tests/run.sh AREA -k NAME only the tests whose names contain NAME (pytest's -k, a regular expression for ctest and gtest)
# Several areas run at the same time, in lanes; each part prints one line, and its whole output when it fails (always in
# build/logs). A single area prints everything.
# BILLCORE_TORTURE=all: every point of the area torture. BILLCORE_LIBCURL=all: every fault in the area libcurl.
# BILLCORE_WHEEL_PYTHON=PATH: the CPython (3.11 or newer) whose wheel the area wheel builds and tests.
# BILLCORE_MODEL_SECONDS=N: runs the model in faults with random seeds for N seconds.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
. tests/setup.sh

# The lanes of a whole run: each area of a lane after the other, the lanes at the same time.
lanes=(
  "interface serverless core capi python rust"
  "faults libcurl conformance go"
  "layering lint proof torture fuzz tsan install sandbox examples wheel"
)
read -ra all_areas <<<"${lanes[*]}"

filter=""
areas=()
while [ "$#" -gt 0 ]; do
  case "$1" in
    -k) filter="${2:?-k needs a name}"; shift ;;
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
case "${#areas[@]}" in
  0) ;;
  1)
    lanes=("${areas[0]}")
    if [ "${areas[0]}" = quick ]; then lanes=("quick_lint quick_core quick_capi quick_sandbox" "quick_python" "quick_conformance"); fi
    ;;
  *) # Areas that were named stay in their lanes.
    for i in "${!lanes[@]}"; do
      kept=""
      for area in ${lanes[i]}; do case " ${areas[*]} " in *" $area "*) kept="$kept $area" ;; esac; done
      lanes[i]="$kept"
    done ;;
esac

bc_packages abigail-tools build-essential ca-certificates ccache clang clang-format clang-tidy cmake doxygen git golang-go \
  libclang1-14 libclang-rt-14-dev libcurl4-openssl-dev libgtest-dev libmicrohttpd-dev libssl-dev ninja-build openssl pkg-config python3-dev python3-pip \
  python3-venv shellcheck valgrind
(bc_rust_packages) || true # the area rust says so
if rust_folder="$(bc_rust)"; then PATH="$PATH:$rust_folder"; fi
mapfile -t requirements < <(grep -v '^#' tests/requirements.txt)
venv="$(bc_venv "${requirements[@]}")"
python="$venv/bin/python"
export PATH="$venv/bin:$PATH"

bc_ccache "$root"
# pip builds in an environment with a new path each time; pybind11 is taken from this one, where ccache knows its files.
CMAKE_ARGS="-Dpybind11_DIR=$("$python" -m pybind11 --cmakedir)"
export CMAKE_ARGS

log="$root/build/logs"
mkdir -p "$log"

quietly() { bc_quietly "$1" "build/logs/$1.log" "${@:2}"; } # NAME COMMAND…

# What is built once in a run, whichever lane needs it first. One build at a time: each takes all processors, and memory.
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

# The release build also has the drivers, for tests that do not work with sanitizers.
build_release() { configure_and_build release -DBILLCORE_TESTS=ON -DBILLCORE_PYTHON=ON; }

# `pip install` of this tree, as a user does it, into a separate environment.
installed_python="$bc_cache/package-$(bc_tree_hash core python pyproject.toml CMakeLists.txt tests/requirements.txt)/bin/python"
make_package() { # FOLDER
  local beside
  mapfile -t beside < <(grep -E '^(django|duckdb|fastapi|flask|gevent|gunicorn|h2|hypothesis|mypy|opentelemetry-sdk|pandas|polars|pyarrow|pyrefly|pyright|pytest|pytest-xdist|sybil|ty|uvloop)(\[nodejs\])?==' tests/requirements.txt)
  bc_say "pip install '.[sandbox]' into a clean environment"
  "$(bc_python)" -m venv "$1" &&
    # In a folder of the tree, where the compiler cache knows the files again.
    quietly pip-install "$1/bin/python" -m pip install --disable-pip-version-check --config-settings=build-dir=build/wheel \
      ".[sandbox]" "${beside[@]}"
}
install_package() { once package bc_once "${installed_python%/bin/python}" make_package "${installed_python%/bin/python}"; }

# The modules under AddressSanitizer need its run-time loaded first; leaks of Python itself are not counted.
with_asan=(env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc
  ASAN_OPTIONS=detect_leaks=0)

# Tests mostly wait, so more of them run at once than there are processors. Those of one file stay together and in order.
at_once=(-n "$((bc_jobs + 1))" --dist loadfile)
[ -z "$filter" ] || at_once=(-k "$filter")

mkdir -p "$state/results"
lane_count=0
for lane in "${lanes[@]}"; do [ -z "${lane// /}" ] || lane_count=$((lane_count + 1)); done
budget() { awk -v name="$1" '$1 == name {print $2, $3}' tests/budgets.txt; }
beside_budget() { # NAME SECONDS: what it may take, to be printed behind what it took
  local warm cold
  read -r warm cold < <(budget "$1") || return 0
  printf ' (%s warm, %s cold%s)' "$warm" "$cold" "$([ "$2" -le "$cold" ] || echo ': over its budget')"
}
run() { # NAME COMMAND…: runs a test runner, keeps its last line and what it took
  local name="$1" output="$log/test-$1.log" status=0 closing took TIMEFORMAT='%R s, processor %U + %S s'
  shift
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
  [ -n "$filter" ] || took="${took/ s,/ s$(beside_budget "$name" "${took%%.*}"),}"
  printf '%s\n' "$closing [$took]" | tee -a "$state/results/$lane"
}
ctest_in() { # FOLDER SECONDS [OPTION…]
  local options=(--test-dir "$1" --output-on-failure --timeout "$2" "${@:3}")
  if [ -n "$filter" ]; then
    # A test of GoogleTest has a name within its program; other programs are tests themselves.
    export GTEST_FILTER="*$filter*" GTEST_BRIEF=1
  fi
  ctest "${options[@]}"
}

area_lint() {
  configure_and_build dev
  run lint tests/lint.sh "$root/build/dev"
}
area_core() {
  configure_and_build dev
  export BILLCORE_TEST_PYTHON="$python"
  PYTHONPATH="$root/python" run core ctest_in build/dev/tests/core 300
}
area_capi() {
  configure_and_build dev
  PYTHONPATH="$root/python" BILLCORE_TEST_PYTHON="$python" \
    run capi ctest_in build/dev/tests/capi 300
}
area_python() {
  configure_and_build dev
  PYTHONPATH="$root/build/dev/python:$root" run python "${with_asan[@]}" "$python" -m pytest -q "${at_once[@]}" tests/python
}
area_sandbox() {
  PYTHONPATH="$root/python:$root" run sandbox "$python" -m pytest -q "${at_once[@]}" tests/sandbox
}
area_conformance() {
  configure_and_build dev
  export BILLCORE_CPP_DRIVER="$root/build/dev/tests/core/wire-driver-cpp"
  export BILLCORE_C_DRIVER="$root/build/dev/tests/capi/wire-driver-c"
  local tests=("$python" -m pytest -q "${at_once[@]}" tests/conformance --ignore tests/conformance/test_dns.py)
  PYTHONPATH="$root/python:$root" run conformance "${tests[@]}" -k "not python"
  # Each process reads all tests, which takes long under AddressSanitizer.
  [ -n "$filter" ] || tests+=(-n 2)
  PYTHONPATH="$root/build/dev/python:$root" run conformance-python "${with_asan[@]}" "${tests[@]}" -k python
}
# The handlers of examples/serverless behind real servers, with the installed package.
area_serverless() {
  install_package
  PYTHONPATH="$root" run serverless "$installed_python" -m pytest -q -W error tests/serverless
}
# The client on faulty connections, checked against the sandbox's ledger. Optimised, because it asserts deadlines.
area_faults() {
  build_release
  install_package
  BILLCORE_CPP_DRIVER="$root/build/release/tests/core/wire-driver-cpp" PYTHONPATH="$root" \
    run faults "$installed_python" -m pytest -q "${at_once[@]}" tests/faults
}
# Slow tests of one thread that do not use libcurl.
long_computations="JsonScan.*:PagerSimulation.*:Scrub.*"
# The transport with the oldest and the newest libcurl. The C++ programs are built against each of them; the installed
# package is built against Debian's and runs with each.
area_libcurl() {
  install_package
  local name folder build program few=(--few --ignore tests/faults/test_waiting.py --ignore tests/faults/test_toxiproxy.py)
  [ "${BILLCORE_LIBCURL:-}" = all ] && few=()
  for name in oldest newest; do
    folder="$(tests/libcurl.sh "$name")"
    build="$root/build/libcurl-$name"
    bc_say "building with $(basename "$folder")"
    quietly "configure-libcurl-$name" cmake --preset release -B "$build" -DCURL_ROOT="$folder" -DBILLCORE_TESTS=ON \
      -DBILLCORE_CAPI=OFF -DBILLCORE_EXAMPLES=OFF
    quietly "build-libcurl-$name" cmake --build "$build" -j "$bc_jobs" \
      --target client-tests out-of-memory-test wire-driver-cpp
    for program in client-tests wire-driver-cpp; do
      ldd "$build/tests/core/$program" | grep -F "$folder/lib/libcurl.so.4" >/dev/null ||
        { echo "$program does not run with the libcurl of $folder" >&2; exit 1; }
    done
    GTEST_FILTER="-$long_computations" BILLCORE_TEST_PYTHON="$python" PYTHONPATH="$root/python" \
      run "libcurl-$name-core" ctest --test-dir "$build/tests/core" -R '^(client-tests|out-of-memory)$' \
      --no-tests=error --output-on-failure --timeout 300
    BILLCORE_RELEASE_BUILD="$build" PYTHONPATH="$root" \
      run "libcurl-$name-dns" "$installed_python" -m pytest -q tests/conformance/test_dns.py -k cpp
    BILLCORE_CPP_DRIVER="$build/tests/core/wire-driver-cpp" LD_LIBRARY_PATH="$folder/lib" PYTHONPATH="$root" run \
      "libcurl-$name-faults" "$installed_python" -m pytest -q "${at_once[@]}" --libcurl "$folder/lib" "${few[@]}" tests/faults
  done
}
# The generator, and that an addition to its data reaches every language.
area_interface() {
  local folder
  if folder="$(bc_go)"; then export BILLCORE_GO="$folder"; fi
  if folder="$(bc_rust)"; then export BILLCORE_RUST="$folder"; fi
  PYTHONPATH="$root" run interface "$python" -m pytest -q ${filter:+-k "$filter"} tests/interface
}
area_layering() {
  build_release
  install_package
  BILLCORE_RELEASE_BUILD="$root/build/release" PYTHONPATH="$root" \
    BILLCORE_PYTHON_PACKAGE="$(cd / && "$installed_python" -c 'import billcore, os; print(os.path.dirname(billcore.__file__))')" \
    run layering "$installed_python" -m pytest -q tests/layering
}
# As a user installs it: the installed package, the optimised libraries, a tree made by `cmake --install`.
area_install() {
  build_release
  install_package
  PYTHONPATH="$root" run install-python "$installed_python" -m pytest -q "${at_once[@]}" tests/python
  BILLCORE_RELEASE_BUILD="$root/build/release" PYTHONPATH="$root" \
    run install-dns "$installed_python" -m pytest -q tests/conformance/test_dns.py
  run docs "$installed_python" -m pytest -q python/docs
  run install-c ctest_in build/release/tests/capi 300
}
# The self-contained wheel, in an environment with other packages that bring their own OpenSSL and libcurl.
area_wheel() {
  local folder
  wheel_python="${BILLCORE_WHEEL_PYTHON:-$(bc_python)}"
  folder="$bc_cache/wheel-$("$wheel_python" -c 'import sys; print(sys.implementation.cache_tag)')-$(bc_tree_hash core python \
    pyproject.toml CMakeLists.txt README.md LICENSE tests/requirements.txt)"
  once wheel bc_once "$folder" make_wheel "$folder"
  local wheel=("$folder"/*.whl) with="$folder/environment/bin/python"
  PYTHONPATH="$root" BILLCORE_WHEEL="${wheel[0]}" run wheel "$with" -m pytest -q "${at_once[@]}" tests/wheel
  # What depends on how the modules are linked: the ends of processes, imports, memory, errors.
  PYTHONPATH="$root" run wheel-python "$with" -m pytest -q "${at_once[@]}" \
    tests/python/test_{exit,import,webhooks,errors,large_answers,process_life,proxy}.py
  PYTHONPATH="$root" run wheel-faults "$with" -m pytest -q "${at_once[@]}" --few \
    tests/faults/test_{connections,floods,http2,keep_alive,strays}.py
}
make_wheel() { # FOLDER
  mkdir -p "$1"
  bc_packages postgresql
  bc_say "building the wheel"
  quietly wheel python/wheel/build.sh --output "$1" "$wheel_python"
  local beside wheels=("$1"/*.whl)
  mapfile -t beside < <(cat tests/requirements.txt python/wheel/requirements.txt | sort -u | grep -E '^(auditwheel|duckdb|fastapi|h2|hypothesis|pandas|polars|psycopg|pyarrow|pybind11|pycurl|pytest|pytest-xdist|scikit-build-core|uvloop|ziglang)(\[binary\])?==')
  bc_make_venv "$1/environment" "$wheel_python" "${wheels[0]}[sandbox]" "${beside[@]}"
}
# No branch and no address depends on a secret: checked by memcheck, which does not work with sanitizers.
area_proof() {
  build_release
  run proof ctest --test-dir build/release/tests/core -R '^(constant-time|secrets)$' --no-tests=error --output-on-failure --timeout 300
}
# Each allocation and each system call fails in turn. Optimised: the interposer replaces the allocator.
area_torture() {
  build_release
  install_package
  local options=()
  [ "${BILLCORE_TORTURE:-}" = all ] && options=(--all)
  run torture tests/torture/run.sh build/release "${options[@]}"
  run torture-python "$installed_python" tests/torture/python_calls.py build/release
}
area_fuzz() {
  run fuzz tests/fuzz/run.sh
}
area_tsan() {
  configure_and_build tsan
  export BILLCORE_TEST_PYTHON="$python" TSAN_OPTIONS="suppressions=$root/tests/tsan.supp halt_on_error=1 second_deadlock_stack=1"
  GTEST_FILTER="-$long_computations" PYTHONPATH="$root/python" run tsan ctest_in build/tsan/tests 600
}
# A language over the C ABI, against an installed prefix.
test_over_c() { # LANGUAGE FOLDER: where its programs are
  local driver
  build_release
  rm -rf "build/$1-prefix"
  quietly "$1-prefix" cmake --install build/release --prefix "build/$1-prefix"
  driver="$root/build/release/tests"
  BILLCORE_CPP_DRIVER="$driver/core/wire-driver-cpp" BILLCORE_C_DRIVER="$driver/capi/wire-driver-c" \
    BILLCORE_RELEASE_BUILD="$root/build/release" PATH="$2:$PATH" run "$1" "tests/$1/run.sh" "build/$1-prefix"
}
is_missing() { # TEXT
  echo "$1"
  [ "${CI:-}" != true ]
}
# Debian 12's Go fetches a newer one.
area_go() {
  local folder
  if folder="$(bc_go)"; then test_over_c go "$folder"; else
    run go is_missing "no Go 1.23 or newer in PATH, and the module proxy gave none: the Go module was not tested"
  fi
}
area_rust() {
  local folder
  if folder="$(bc_rust)"; then test_over_c rust "$folder"; else
    run rust is_missing "no Rust 1.85 or newer in PATH, and Debian's packages gave none: the Rust crates were not tested"
  fi
}
area_examples() {
  local go="" rust=""
  build_release
  install_package
  run examples examples/quickstart.sh
  run readme "$python" examples/check_readme.py
  run first-page "$python" examples/check_first_page.py
  if go="$(bc_go)"; then
    quietly go-prefix-examples cmake --install build/release --prefix build/go-examples
    (
      export PKG_CONFIG_PATH="$root/build/go-examples/lib/pkgconfig" CGO_LDFLAGS="-Wl,-rpath,$root/build/go-examples/lib"
      cd examples/go && PATH="$go:$PATH" GOTOOLCHAIN=local go build -buildvcs=false -o "$root/build/release/examples/go/" ./...
    )
  fi
  if rust="$(bc_rust)"; then
    quietly rust-prefix-examples cmake --install build/release --prefix build/rust-examples
    (
      PATH="$rust:$PATH"
      quietly rust-examples bc_rust_programs "$root" "$root/build/rust-examples" "$root/build/release/examples/rust" \
        "find charge verify_webhook"
    )
  fi
  run samples "$installed_python" examples/check_samples.py build/release ${go:+--go} ${rust:+--rust}
}

# The inner loop: one optimised build, no sanitizers, nothing twice.
area_quick_lint() { BILLCORE_LINT=quick run lint tests/lint.sh build/release; }
area_quick_core() {
  build_release
  BILLCORE_TEST_PYTHON="$python" PYTHONPATH="$root/python" run core ctest_in build/release/tests/core 300
}
area_quick_capi() {
  build_release
  BILLCORE_TEST_PYTHON="$python" PYTHONPATH="$root/python" run capi ctest_in build/release/tests/capi 300
}
area_quick_python() {
  build_release
  PYTHONPATH="$root/build/release/python:$root" run python "$python" -m pytest -q "${at_once[@]}" tests/python
}
area_quick_sandbox() { PYTHONPATH="$root/python:$root" run sandbox "$python" -m pytest -q "${at_once[@]}" tests/sandbox; }
area_quick_conformance() {
  build_release
  export BILLCORE_CPP_DRIVER="$root/build/release/tests/core/wire-driver-cpp"
  export BILLCORE_C_DRIVER="$root/build/release/tests/capi/wire-driver-c"
  PYTHONPATH="$root/build/release/python:$root" \
    run conformance "$python" -m pytest -q "${at_once[@]}" tests/conformance --ignore tests/conformance/test_dns.py
}

# One after the other; a build that fails ends its lane.
run_lane() { for area in $1; do "area_$area"; done; }

failed=0
if [ "$lane_count" -gt 1 ]; then
  pids=()
  for i in "${!lanes[@]}"; do
    [ -n "${lanes[i]// /}" ] || continue
    lane="$i" run_lane "${lanes[i]}" &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
else
  for i in "${!lanes[@]}"; do
    [ -n "${lanes[i]// /}" ] || continue
    (lane="$i" run_lane "${lanes[i]}") & # in the background, since `set -e` counts there
    wait "$!" || failed=1
  done
fi

bc_say "result"
cat "$state"/results/* | tee "$log/results"
passed="$(grep -c '^ok ' "$log/results" || true)"
refused="$(grep -c '^FAILED ' "$log/results" || true)"
whole=""
[ "${#areas[@]}" -gt 0 ] || whole="$(beside_budget whole "$SECONDS")"
printf '%d passed, %d failed, %d min %d s%s\n' "$passed" "$refused" "$((SECONDS / 60))" "$((SECONDS % 60))" "$whole"
[ "$refused" -eq 0 ] || failed=1
exit "$failed"
