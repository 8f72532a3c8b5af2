#!/usr/bin/env bash
# Runs every test of billcore with one command, on a fresh Debian 12 machine (as root, or with the packages installed):
#   tests/run.sh              everything
#   tests/run.sh AREA…        only these: lint layering core capi python sandbox conformance serverless faults
#                             libcurl install proof torture fuzz tsan examples
# BILLCORE_TORTURE=all: every point of the area torture. BILLCORE_LIBCURL=all: every fault in the area libcurl.
# BILLCORE_MODEL_SECONDS=N: the model in faults runs random seeds for N seconds.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
. tests/setup.sh

all_areas=(lint layering core capi python sandbox conformance serverless faults libcurl install proof torture fuzz tsan examples)
areas=("$@")
[ "${#areas[@]}" -gt 0 ] || areas=("${all_areas[@]}")
for area in "${areas[@]}"; do
  case " ${all_areas[*]} " in
    *" $area "*) ;;
    *) echo "tests/run.sh: there is no area '$area'; there are: ${all_areas[*]}" >&2; exit 2 ;;
  esac
done

bc_packages build-essential ca-certificates ccache clang clang-format clang-tidy cmake git golang-go libclang-rt-14-dev \
  libcurl4-openssl-dev libgtest-dev libmicrohttpd-dev libssl-dev ninja-build openssl pkg-config python3-dev python3-pip \
  python3-venv shellcheck valgrind
mapfile -t requirements < <(grep -v '^#' tests/requirements.txt)
venv="$(bc_venv "${requirements[@]}")"
python="$venv/bin/python"
export PATH="$venv/bin:$PATH"

bc_ccache "$root"

log="$root/build/logs"
mkdir -p "$log"

quietly() { bc_quietly "$1" "build/logs/$1.log" "${@:2}"; } # NAME COMMAND…

built=" "
configure_and_build() { # PRESET [OPTION…]
  local preset="$1"
  case "$built" in *" $preset "*) return 0 ;; esac
  bc_say "building $preset"
  quietly "configure-$preset" cmake --preset "$preset" -DPython_EXECUTABLE="$python" -DPython3_EXECUTABLE="$python" \
    -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)" "${@:2}"
  quietly "build-$preset" cmake --build "build/$preset" -j "$bc_jobs"
  built="$built$preset "
}

# The release build also has the drivers, for tests that do not work with sanitizers.
build_release() { configure_and_build release -DBILLCORE_TESTS=ON; }

# `pip install` of this tree, as a user does it, into a separate environment.
installed_python=""
make_package() { # FOLDER
  local beside
  mapfile -t beside < <(grep -E '^(django|duckdb|fastapi|flask|gevent|gunicorn|h2|hypothesis|mypy|opentelemetry-sdk|pandas|polars|pyarrow|pytest|pytest-xdist|uvloop)==' tests/requirements.txt)
  bc_say "pip install '.[sandbox]' into a clean environment"
  "$(bc_python)" -m venv "$1" &&
    quietly pip-install "$1/bin/python" -m pip install --disable-pip-version-check ".[sandbox]" "${beside[@]}"
}
install_package() {
  [ -z "$installed_python" ] || return 0
  local folder
  folder="$bc_cache/package-$(bc_tree_hash core python pyproject.toml CMakeLists.txt tests/requirements.txt)"
  bc_once "$folder" make_package "$folder"
  installed_python="$folder/bin/python"
}

# The modules under AddressSanitizer need its run-time loaded first; leaks of Python itself are not counted.
with_asan=(env LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc
  ASAN_OPTIONS=detect_leaks=0)

# Tests mostly wait. Those of one file stay together and in order.
at_once=(-n "$bc_jobs" --dist loadfile)

results=()
failed=0
run() { # NAME COMMAND…: runs a test runner, keeps its last line
  local name="$1" output="$log/test-$1.log" status=0
  shift
  bc_say "$name"
  "$@" 2>&1 | tee "$output" || status=$?
  local closing
  closing="$(grep -aE '([0-9]+ (passed|failed|error)|tests passed|\[  PASSED  \]|no issues found|All checks passed)' "$output" | tail -n 1 | sed 's/^=* *//; s/ *=*$//' || true)"
  if [ "$status" -eq 0 ]; then
    results+=("ok      $name: ${closing:-done}")
  else
    results+=("FAILED  $name: ${closing:-status $status}")
    failed=1
  fi
}

area_lint() {
  configure_and_build dev
  run lint tests/lint.sh "$root/build/dev"
}
area_core() {
  configure_and_build dev
  export BILLCORE_TEST_PYTHON="$python"
  PYTHONPATH="$root/python" run core ctest --test-dir build/dev/tests/core --output-on-failure --timeout 300
}
area_capi() {
  configure_and_build dev
  PYTHONPATH="$root/python" BILLCORE_TEST_PYTHON="$python" \
    run capi ctest --test-dir build/dev/tests/capi --output-on-failure --timeout 300
}
area_python() {
  configure_and_build dev
  PYTHONPATH="$root/build/dev/python:$root" run python "${with_asan[@]}" "$python" -m pytest -q "${at_once[@]}" --durations=20 tests/python
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
    # Skip slow tests that do not use libcurl.
    GTEST_FILTER='-JsonScan.*:PagerSimulation.*:Scrub.*' BILLCORE_TEST_PYTHON="$python" PYTHONPATH="$root/python" \
      run "libcurl-$name-core" ctest --test-dir "$build/tests/core" -R '^(client-tests|out-of-memory)$' \
      --no-tests=error --output-on-failure --timeout 300
    BILLCORE_RELEASE_BUILD="$build" PYTHONPATH="$root" \
      run "libcurl-$name-dns" "$installed_python" -m pytest -q tests/conformance/test_dns.py -k cpp
    BILLCORE_CPP_DRIVER="$build/tests/core/wire-driver-cpp" LD_LIBRARY_PATH="$folder/lib" PYTHONPATH="$root" run \
      "libcurl-$name-faults" "$installed_python" -m pytest -q "${at_once[@]}" --libcurl "$folder/lib" "${few[@]}" tests/faults
  done
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
  run install-c ctest --test-dir build/release/tests/capi --output-on-failure --timeout 300
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
  PYTHONPATH="$root/python" run tsan ctest --test-dir build/tsan/tests --output-on-failure --timeout 600
}
area_examples() {
  build_release
  install_package
  run examples examples/quickstart.sh
  run readme "$python" examples/check_readme.py
  run first-page "$python" examples/check_first_page.py
  run samples "$installed_python" examples/check_samples.py build/release
}

for area in "${areas[@]}"; do "area_$area"; done

bc_say "result"
printf '%s\n' "${results[@]}"
passed=0
for result in "${results[@]}"; do [[ "$result" == ok* ]] && passed=$((passed + 1)); done
printf '%d passed, %d failed\n' "$passed" "$((${#results[@]} - passed))"
exit "$failed"
