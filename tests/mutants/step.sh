#!/usr/bin/env bash
# Builds what a step needs, and runs its tests until the first failure: step.sh COMMAND ARGUMENT…, in the folder of a
# worktree. steps.toml has the steps; COMMAND is a function of this file. If the build or another command before the tests
# fails, the exit status is 70.
set -eEuo pipefail
trap 'exit 70' ERR
. tests/setup.sh
root="$PWD"
release="$root/build/release"
bc_ccache "$root"
mapfile -t requirements < <(grep -v '^#' tests/requirements.txt)
venv="$(bc_venv "${requirements[@]}")"
python="$venv/bin/python"
"$python" python/sandbox/hatch_build.py
# Python writes no bytecode files: it would take the file of the unbroken module if the broken module has the same size
# and the same second of its last change.
export PATH="$venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 BILLCORE_RELEASE_BUILD="$release"
export BILLCORE_CPP_DRIVER="$release/tests/core/wire-driver-cpp" BILLCORE_C_DRIVER="$release/tests/capi/wire-driver-c"
export PYTHONPATH="$root/python/sandbox:$release/python:$root" # the sandbox beside its README, not the copy in the build

# A command that fails after this call is a failed test.
tests_begin() { trap - ERR; }

build() { # TARGET…
  [ -e "$release/build.ninja" ] || cmake --preset release -DBILLCORE_TESTS=ON -DBILLCORE_PYTHON=ON -DBILLCORE_WERROR=OFF \
    -DPython_EXECUTABLE="$python" -DPython3_EXECUTABLE="$python" -DCMAKE_C_COMPILER=cc -DCMAKE_CXX_COMPILER=c++ \
    -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)"
  cmake --build "$release" -j "$bc_jobs" --target "$@"
}
prefix() { # LANGUAGE: installs the C libraries, and sets `to`
  build all
  to="$root/build/$1-prefix"
  cmake --install "$release" --prefix "$to" >/dev/null
  mkdir -p "$to/bin"
  printf '#!/usr/bin/env bash\nexec %q -m billcore_sandbox "$@"\n' "$python" >"$to/bin/billcore-sandbox"
  chmod +x "$to/bin/billcore-sandbox"
  export PATH="$to/bin:$PATH" PKG_CONFIG_PATH="$to/lib/pkgconfig" LD_LIBRARY_PATH="$to/lib"
}

# gtest PROGRAM [FOLDER]: the tests of a folder of tests/core, or all tests of the program
gtest() {
  build "$1"
  local suites=""
  [ -z "${2:-}" ] || suites="$(grep -hoE '^TEST(_F|_P)?\(\w+' "tests/core/$2"/*.cpp | sed -E 's/.*\((.*)/*\1.*/' | sort -u | paste -sd:)"
  tests_begin
  GTEST_FAIL_FAST=1 GTEST_BRIEF=1 GTEST_FILTER="${suites:-*}" "$release/tests/core/$1"
}

# ctests FOLDER REGEX: programs of tests/core or tests/capi
ctests() {
  build all
  tests_begin
  ctest --test-dir "$release/tests/$1" -R "$2" --no-tests=error --stop-on-failure --timeout 300
}

# pytest ARGUMENT…: Python tests with the modules of the build folder. If the first argument is a folder, several
# processes share its files.
pytest() {
  build _client _webhook billcore_python_package wire-driver-cpp wire-driver-c
  local parallel=()
  case "$1" in *.py) ;; *) parallel=(-n "$((bc_jobs + 1))" --dist loadfile) ;; esac
  tests_begin
  "$python" -m pytest -x -q -p no:cacheprovider "${parallel[@]}" "$@"
}

# spark ARGUMENT…, meets ARGUMENT…: pytest with the packages of Spark or of the area meets
spark() { pytest_with tests/spark/requirements.txt "$@"; }
meets() {
  local beside='^(asyncpg|celery|django|duckdb|h11|msgspec|psycopg|psycopg2-binary|pytest|sqlalchemy|starlette|uvicorn)(\[[a-z]+\])?=='
  pytest_with <(grep -hE "$beside" tests/requirements.txt; cat tests/meets/requirements.txt) "$@"
}
pytest_with() { # REQUIREMENTS ARGUMENT…
  local with
  mapfile -t requirements < <(grep -v '^#' "$1")
  build _client _webhook billcore_python_package
  with="$(bc_venv "${requirements[@]}")/bin/python"
  tests_begin
  "$with" -m pytest -x -q -p no:cacheprovider "${@:2}"
}

# gotest: the tests of the module, those of tests/go under the race detector, and the wire fixtures
gotest() {
  local go
  go="$(bc_go)"
  prefix go
  export PATH="$PATH:$go" GOTOOLCHAIN=local GOFLAGS='-buildvcs=false -tags=billcore_system'
  (cd capi/go && go vet ./...)
  tests_begin
  (cd capi/go && go test -failfast ./...)
  (cd tests/go && go test -race -failfast -count=1 .)
  (cd tests/go && go build -race -o "$to/driver" ./driver)
  BILLCORE_GO_DRIVER="$to/driver" "$python" -m pytest -x -q -n 2 tests/conformance --language go
}

# rusttest: the tests of the crates, those of tests/rust, and the wire fixtures
rusttest() {
  local rust
  rust="$(bc_rust)"
  prefix rust
  export PATH="$PATH:$rust"
  bc_rust_enter "$root" "$to"
  export LD_LIBRARY_PATH="$bc_rust_prefix/lib"
  (cd "$bc_rust_source/tests/rust" && cargo build --quiet --tests --bins)
  tests_begin
  (cd "$bc_rust_source/capi/rust" && cargo test --quiet --features "$bc_rust_features")
  (cd "$bc_rust_source/tests/rust" && cargo test --quiet)
  export BILLCORE_RUST_DRIVER="$CARGO_TARGET_DIR/debug/driver"
  "$python" -m pytest -x -q -n 2 tests/conformance --language rust
  "$python" -m pytest -x -q -n 2 tests/conformance --language rust-async
}

torture() {
  build all
  tests_begin
  tests/torture/run.sh "$release"
}

"$@"
