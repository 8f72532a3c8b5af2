# Defines the areas of tests; tests/run.sh sources this file. `tests/run.sh --list` prints the line above each area.
# shellcheck shell=bash disable=SC2154 # tests/run.sh sets the variables

# Runs an area. With `quick_` before its name, the area runs on the optimised build, without sanitizers and clang-tidy.
run_area() { # AREA, or quick_AREA
  local area="${1#quick_}" quick="" tested=build/dev
  if [ "$area" != "$1" ]; then local quick=yes tested=build/release with_asan=(); fi
  "area_$area"
}
build_tested() { if [ -n "$quick" ]; then build_release; else configure_and_build dev; fi; }

# daily lint: formatters, linters, type checkers, generated files
area_lint() {
  [ -n "$quick" ] || build_tested
  BILLCORE_LINT="${quick:+quick}" run lint tests/lint.sh "$root/$tested"
}
# daily core: GoogleTest tests of the C++ core; tests of the C ABI, written in C; its exported symbols
area_core() {
  local part
  build_tested
  for part in core capi; do
    PYTHONPATH="$root/python:$root/python/sandbox" run "$part" ctest_in "$tested/tests/$part" 300
  done
}
# daily python: pytest tests of the Python package; the random peer of tests/faults under the sanitizers
area_python() {
  build_tested
  PYTHONPATH="$root/$tested/python:$root" run python "${with_asan[@]}" "$python" -m pytest -q "${at_once[@]}" tests/python \
    tests/faults/test_model.py
}
# Installs the release build, and sets the variables with which cgo finds it.
release_for_go() { # PREFIX
  build_release
  quietly "${1##*/}-prefix" cmake --install build/release --prefix "$1"
  export PKG_CONFIG_PATH="$1/lib/pkgconfig" CGO_LDFLAGS="'-Wl,-rpath,$1/lib'" GOTOOLCHAIN=local GOFLAGS=-tags=billcore_system
}
# daily sandbox: the sandbox, a server on localhost that imitates the billing service; its page, which may load the client
area_sandbox() (
  release_for_go "$root/build/sandbox"
  go="$(bc_go)" || go="$venv/bin" # without Go, its snippets are not compiled
  # The sandbox beside its README, not the copy in the build.
  PATH="$go:$PATH" PYTHONPATH="$root/python/sandbox:$root/build/release/python:$root" run sandbox "$python" -m pytest -q "${at_once[@]}" tests/sandbox
)
# daily journal: charges that survive a crash of the process, on SQLite and PostgreSQL
# The area uses the release build, because the journal is written only in Python.
area_journal() {
  build_release
  PYTHONPATH="$root/build/release/python:$root" run journal "$python" -m pytest -q "${at_once[@]}" tests/journal
}
# daily inbox: events that must be handled once, with each database driver; the receivers of examples/inbox
area_inbox() {
  local go="" rust="" to="$root/build/inbox"
  build_release
  if go="$(bc_go)"; then
    (
      release_for_go "$to"
      cd examples/inbox/go && PATH="$go:$PATH" go build -buildvcs=false -o "$to/receiver-go" .
    )
    export BILLCORE_INBOX_GO="$to/receiver-go"
  else
    quietly inbox-prefix cmake --install build/release --prefix "$to"
  fi
  if rust="$(bc_rust)"; then
    (PATH="$rust:$PATH" quietly inbox-rust bc_rust_programs "$root" "$to" "$to/rust" inbox --features database)
    export BILLCORE_INBOX_RUST="$to/rust/inbox"
  fi
  PYTHONPATH="$root/build/release/python:$root" run inbox "$python" -m pytest -q "${at_once[@]}" tests/inbox
}
# daily bulk: all lists of an account, read in threads, as Arrow batches; the data source for Spark, on Sail
# The area uses the release build, because billcore.bulk is written only in Python.
area_bulk() {
  local beside
  build_release
  # dlt has an environment of its own, because it depends on 20 further packages.
  mapfile -t beside < <(grep -hE '^(dlt|duckdb|pyarrow)==' tests/bulk/requirements.txt tests/requirements.txt)
  BILLCORE_DLT="$(bc_venv "${beside[@]}")/bin/python"
  export BILLCORE_DLT
  PYTHONPATH="$root/build/release/python:$root" run bulk if_any "$python" -m pytest -q "${at_once[@]}" tests/bulk
  on_engine spark tests/spark/requirements.txt
  [ "${BILLCORE_SPARK:-}" != 1 ] || on_engine spark-jvm tests/spark/requirements-jvm.txt
}
# The packages pyspark and pyspark-client have the same module, so each engine has an environment of its own.
on_engine() { # NAME REQUIREMENTS
  local needed engine
  mapfile -t needed < <(grep -v '^#' "$2")
  engine="$(bc_venv "${needed[@]}")/bin/python"
  PYTHONPATH="$root/build/release/python:$root" run "$1" if_any "$engine" -m pytest -q ${filter:+-k "$filter"} tests/spark
}
# daily cli: the commands of `billcore`, in pipes and on terminals; the files and kills of `billcore export`; reconcile
area_cli() {
  build_release
  PYTHONPATH="$root/build/release/python:$root" run cli "$python" -m pytest -q "${at_once[@]}" tests/export tests/reconcile tests/cli
}
# daily conformance: the same HTTP and webhook fixtures in C++, C and Python
area_conformance() {
  build_tested
  export BILLCORE_CPP_DRIVER="$root/$tested/tests/core/wire-driver-cpp"
  export BILLCORE_C_DRIVER="$root/$tested/tests/capi/wire-driver-c"
  local tests=("$python" -m pytest -q "${at_once[@]}" tests/conformance --ignore tests/conformance/test_dns.py)
  if [ -n "$quick" ]; then
    PYTHONPATH="$root/$tested/python:$root" run conformance "${tests[@]}"
    return
  fi
  PYTHONPATH="$root/python:$root/python/sandbox:$root" run conformance if_any "${tests[@]}" \
    -k "${filter:+($filter) and }not python" # in one expression, because pytest obeys only the last -k
  # Use few processes: each pytest-xdist process collects all tests, which is slow under AddressSanitizer.
  [ -n "$filter" ] || tests+=(-n 2)
  PYTHONPATH="$root/build/dev/python:$root" run conformance-python if_any "${with_asan[@]}" "${tests[@]}" \
    --language python --language python-async
}
# Runs pytest. With a filter, status 5 (no test has the name) is not a failure: another run of the area may have one.
if_any() { timeout --foreground --kill-after=30 2400 "$@" || { local status="$?"; [ -n "$filter" ] && [ "$status" -eq 5 ]; }; } # COMMAND
# deep faults: the client on faulty connections, checked against the sandbox's ledger; h2spec, Wycheproof, BetterTLS
# The area faults uses the optimised build, because its tests assert deadlines.
area_faults() {
  build_release
  install_package
  BILLCORE_CPP_DRIVER="$root/build/release/tests/core/wire-driver-cpp" PYTHONPATH="$root" \
    BILLCORE_C_DRIVER="$root/build/release/tests/capi/wire-driver-c" run faults if_any "$installed_python" -m pytest -q "${at_once[@]}" tests/faults
  PYTHONPATH="$root/build/release/python:$root" run foreign if_any tests/foreign/run.sh "$python" "${at_once[@]}"
}
# Slow single-threaded tests that do not use libcurl: the areas libcurl and tsan skip them.
long_computations="JsonScan.*:PagerSimulation.*:Scrub.*"
# deep libcurl: the transport with the newest libcurl, and with the oldest
# The C++ programs are built against each libcurl; the installed package is built against Debian's libcurl and runs with
# each. Debian 12's libcurl, with which all other areas but wheel run, is the oldest release that billcore accepts. The
# area wheel runs the faults with the newest one.
area_libcurl() {
  install_package
  local name folder build program names=(newest) faults=()
  grep -q "oldest) crate=[^ ]*curl-$(pkg-config --modversion libcurl) " tests/libcurl.sh || names=(oldest newest)
  if [ "${BILLCORE_LIBCURL:-}" = all ]; then names=(oldest newest) faults=(tests/faults); fi
  for name in "${names[@]}"; do
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
    GTEST_FILTER="-$long_computations" \
      run "libcurl-$name-core" ctest --test-dir "$build/tests/core" -R '^(client-tests|out-of-memory)$' \
      --no-tests=error --output-on-failure --timeout 300
    BILLCORE_RELEASE_BUILD="$build" PYTHONPATH="$root" \
      run "libcurl-$name-dns" "$installed_python" -m pytest -q tests/conformance/test_dns.py -k cpp
    [ "${#faults[@]}" -eq 0 ] || BILLCORE_CPP_DRIVER="$build/tests/core/wire-driver-cpp" LD_LIBRARY_PATH="$folder/lib" \
      PYTHONPATH="$root" run "libcurl-$name-faults" "$installed_python" -m pytest -q "${at_once[@]}" \
      --libcurl "$folder/lib" "${faults[@]}"
  done
}
# daily layering: allowed includes, linked libraries; an addition to the interface must change the code of every language
area_layering() {
  local folder
  build_release
  install_package
  BILLCORE_RELEASE_BUILD="$root/build/release" PYTHONPATH="$root" \
    BILLCORE_PYTHON_PACKAGE="$(cd / && "$installed_python" -c 'import billcore, os; print(os.path.dirname(billcore.__file__))')" \
    run layering if_any "$installed_python" -m pytest -q ${filter:+-k "$filter"} tests/layering
  if folder="$(bc_go)"; then export BILLCORE_GO="$folder"; fi
  if folder="$(bc_rust)"; then export BILLCORE_RUST="$folder"; fi
  PYTHONPATH="$root" run interface if_any "$python" -m pytest -q ${filter:+-k "$filter"} tests/interface
}
# outside install: the Python package as pip installs it, behind real servers, its reference; the libraries that cmake installs
area_install() {
  build_release
  install_package
  # Runs the tests of typing, and the tests that skip something or count less under AddressSanitizer or need the speed of the
  # optimised build; the area python runs all other tests. The area wheel has those that depend on the linking.
  PYTHONPATH="$root" run install-python if_any "$installed_python" -m pytest -q "${at_once[@]}" tests/python/typing \
    tests/python/test_{first_calls,fork,gevent,interrupt,leaks,long_lists,pickles,secrets,uninitialised}.py
  PYTHONPATH="$root" run serverless if_any "$installed_python" -m pytest -q -W error ${filter:+-k "$filter"} tests/serverless
  BILLCORE_RELEASE_BUILD="$root/build/release" PYTHONPATH="$root" \
    run install-dns "$installed_python" -m pytest -q tests/conformance/test_dns.py
  run docs "$installed_python" -m pytest -q python/docs
  run install-c ctest_in build/release/tests/capi 300
}
# outside wheel: the self-contained wheel, alone and beside packages that contain their own OpenSSL and libcurl
area_wheel() {
  build_wheel
  local wheel=("$wheel_folder"/*.whl) with="$wheel_folder/environment/bin/python"
  PYTHONPATH="$root" BILLCORE_WHEEL="${wheel[0]}" run wheel "$with" -m pytest -q "${at_once[@]}" tests/wheel
  # Runs the tests that depend on how the modules are linked: process exit, imports, memory, errors.
  PYTHONPATH="$root" run wheel-python "$with" -m pytest -q "${at_once[@]}" \
    tests/python/test_{exit,import,errors,large_answers,process_life,proxy}.py
  # The wheel has the newest libcurl and its own OpenSSL.
  PYTHONPATH="$root" run wheel-faults "$with" -m pytest -q "${at_once[@]}" --few --ignore tests/faults/test_waiting.py \
    tests/faults
  PYTHONPATH="$root" run wheel-foreign tests/foreign/run.sh "$with" "${at_once[@]}"
}
build_wheel() { # sets wheel_folder, the folder with the wheel and with an environment in which it is installed
  wheel_python="${BILLCORE_WHEEL_PYTHON:-$(bc_python)}"
  wheel_folder="$bc_cache/wheel-$("$wheel_python" -c 'import sys; print(sys.implementation.cache_tag)')-$(bc_tree_hash core \
    python pyproject.toml CMakeLists.txt README.md LICENSE tests/requirements.txt)"
  once wheel bc_once "$wheel_folder" make_wheel "$wheel_folder"
}
make_wheel() { # FOLDER
  mkdir -p "$1"
  bc_say "building the wheel"
  quietly wheel python/wheel/build.sh --output "$1" "$wheel_python"
  local beside wheels=("$1"/*.whl)
  mapfile -t beside < <(cat tests/requirements.txt python/wheel/requirements.txt | sort -u | grep -E '^(auditwheel|duckdb|fastapi|h2|hatchling|hypothesis|pandas|polars|psycopg|pyarrow|pybind11|pycurl|pytest|pytest-xdist|scikit-build-core|uvloop|ziglang)(\[binary\])?==')
  bc_make_venv_on "$1/environment" "$wheel_python" "$root/python/sandbox" "${wheels[0]}[sandbox]" -- "${beside[@]}"
}
# outside release: what release.sh makes in short time, installed in minimal roots of Debian
area_release() {
  local go pieces=(python go c)
  build_wheel
  if bc_rust 90 >/dev/null; then pieces+=(rust); else
    run release-rust is_missing "no Rust 1.90 or newer in PATH: the crates were not packed"
  fi
  go="$(bc_go)" || go="$venv/bin" # without Go, the tests of its module are skipped
  # For this processor, and with the wheel that the area wheel tests.
  quietly release ./release.sh --quick --wheels "$wheel_folder" --output build/dist "${pieces[@]}"
  BILLCORE_DIST="$root/build/dist" PATH="$go:$PATH" PYTHONPATH="$root" run release if_any "$python" -m pytest -q "${at_once[@]}" tests/release
  # The library of the Go module redirects calls of libcurl in a way of its own. The wheel has the same libcurl, which the
  # faults ask for its release.
  if [ -x "$go/go" ]; then
    quietly release-driver driver_of_release "$go/go"
    BILLCORE_GO_DRIVER="$root/build/driver-of-release" PYTHONPATH="$root" run release-faults \
      if_any "$wheel_folder/environment/bin/python" -m pytest -q "${at_once[@]}" tests/faults --driver go --few
  fi
}
# Builds the driver of Go with the modules in build/dist, which a module cache of its own gets.
driver_of_release() ( # GO
  cp tests/go/go.mod build/driver.mod && cd tests/go || return
  GOMODCACHE="$root/build/go-modules" GOPROXY="file://$root/build/dist/go" GONOSUMDB=billcore.example GOWORK=off GOTOOLCHAIN=local \
    GOFLAGS="-mod=mod -modfile=$root/build/driver.mod -modcacherw" "$1" build -buildvcs=false -o "$root/build/driver-of-release" ./driver
)
# outside meets: programs that people run together with billcore, such as nginx and MariaDB; the sandbox's page and the site in Chromium
area_meets() {
  local beside with
  build_wheel
  mapfile -t beside < <(grep -hE '^(asyncpg|celery|django|duckdb|psycopg|psycopg2-binary|pytest|pytest-xdist|sqlalchemy)(\[[a-z]+\])?==' \
    tests/requirements.txt; grep -v '^#' tests/meets/requirements.txt)
  # This environment is beside that of the wheel, because ddtrace and OpenTelemetry change what other packages do.
  with="$bc_cache/meets-$(printf '%s\n' "$wheel_folder" "${beside[@]}" | sha256sum | cut -c1-16)"
  bc_once "$with" bc_make_venv_on "$with" "$wheel_python" "$root/python/sandbox" "$wheel_folder"/*.whl -- "${beside[@]}"
  beside=("$wheel_folder"/*.whl)
  PYTHONPATH="$root" BILLCORE_WHEEL="${beside[0]}" run meets if_any "$with/bin/python" -m pytest -q "${at_once[@]}" tests/meets
  # The page of the sandbox in a browser. Only these tests need the driver of the browser.
  mapfile -t beside < <(grep -hE '^(jinja2|msgspec|pytest|pytest-xdist|uvicorn)==' tests/requirements.txt
    grep -v '^#' tests/page/requirements.txt)
  with="$(bc_venv "${beside[@]}")"
  PYTHONPATH="$root/python:$root/python/sandbox:$root" run page if_any "$with/bin/python" -m pytest -q "${at_once[@]}" tests/page
  quietly site python/docs/site.sh
  BILLCORE_SITE="$root/build/docs" PYTHONPATH="$root" run site if_any "$with/bin/python" -m pytest -q "${at_once[@]}" tests/docs/test_site.py
}
# deep valgrind: no branch and no memory address depends on a secret; instructions and allocations of the main calls
# Runs the release build under memcheck, because memcheck does not work with sanitizers. The stored costs were measured
# with Debian's Python, so the area uses Debian's Python if the modules were built for the same version.
area_valgrind() {
  local with="$python" debian=/usr/bin/python3 version='import sys; print(sys.implementation.cache_tag)'
  build_release
  run proof ctest --test-dir build/release/tests/core -R '^(constant-time|secrets)$' --no-tests=error --output-on-failure --timeout 300
  [ "$("$debian" -c "$version" 2>&1)" != "$("$python" -c "$version")" ] || with="$debian"
  local rust=() folder
  if folder="$(bc_rust)"; then
    (PATH="$folder:$PATH" quietly cost-rust build_cost_rust)
    rust=(--rust build/cost-rust/release/cost-rust)
    PATH="$folder:$PATH"
  fi
  PYTHONPATH="$root/build/release/python" run cost "$with" tests/cost/run.py build/release "${rust[@]}"
}
# Builds the Rust program of tests/cost against the libraries of the release build.
build_cost_rust() {
  local prefix="$root/build/cost-prefix" target="$root/build/cost-rust"
  rm -rf "$prefix"
  cmake --install build/release --prefix "$prefix" >/dev/null && cd tests/cost/rust &&
    CARGO_TARGET_DIR="$target" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" cargo rustc --release --quiet -- -L "$root/build/release/tests/cost"
}
# deep torture: each allocation and each system call fails in turn
# Uses the release build, because the interposer of the torture test and AddressSanitizer both replace the allocator.
area_torture() {
  build_release
  install_package
  local options=()
  [ "${BILLCORE_TORTURE:-}" = all ] && options=(--all)
  run torture tests/torture/run.sh build/release "${options[@]}"
  run torture-python "$installed_python" tests/torture/python_calls.py build/release
}
# deep fuzz: libFuzzer's targets, each for a short time
area_fuzz() {
  run fuzz tests/fuzz/run.sh
}
# deep tsan: the C++ and C tests with ThreadSanitizer
area_tsan() {
  configure_and_build tsan
  export TSAN_OPTIONS="suppressions=$root/tests/tsan.supp halt_on_error=1 second_deadlock_stack=1"
  # When a process with threads forks, ThreadSanitizer does not watch the child, and gcc 12's can make the child hang.
  GTEST_FILTER="-$long_computations:Fork.*" PYTHONPATH="$root/python:$root/python/sandbox" run tsan ctest_in build/tsan/tests 600
}
# Tests a binding that uses the C ABI, against libraries installed under a prefix. `venv` is first in PATH, because
# FOLDER may be /usr/bin, whose Python has no pytest.
test_over_c() { # LANGUAGE FOLDER: FOLDER has the language's tools, such as its compiler
  local driver programs="$root/build/$1-prefix/bin"
  build_release
  rm -rf "build/$1-prefix"
  quietly "$1-prefix" cmake --install build/release --prefix "build/$1-prefix"
  mkdir -p "$programs"
  printf '#!/usr/bin/env bash\nPYTHONPATH=%q exec %q -m billcore_sandbox "$@"\n' "$root/python/sandbox" "$python" >"$programs/billcore-sandbox"
  chmod +x "$programs/billcore-sandbox"
  driver="$root/build/release/tests"
  BILLCORE_CPP_DRIVER="$driver/core/wire-driver-cpp" BILLCORE_C_DRIVER="$driver/capi/wire-driver-c" \
    BILLCORE_RELEASE_BUILD="$root/build/release" PATH="$programs:$venv/bin:$2:$PATH" run "$1" "tests/$1/run.sh" "build/$1-prefix"
}
is_missing() { # TEXT
  echo "$1"
  [ "${CI:-}" != true ]
}
# outside go: the Go module
# bc_go uses Debian 12's Go only to download a newer Go.
area_go() {
  local folder
  if folder="$(bc_go)"; then test_over_c go "$folder"; else
    run go is_missing "no Go 1.23 or newer in PATH, and the module proxy gave none: the Go module was not tested"
  fi
}
# outside rust: the Rust crates
area_rust() {
  local folder
  if folder="$(bc_rust)"; then test_over_c rust "$folder"; else
    run rust is_missing "no Rust 1.85 or newer in PATH, and Debian's packages gave none: the Rust crates were not tested"
  fi
}
# outside examples: quickstart.sh, the commands of README.md, the samples
area_examples() {
  install_package
  run examples examples/quickstart.sh
  run readme "$python" examples/check_readme.py
  run first-page "$python" examples/check_first_page.py
  run samples "$installed_python" examples/check_samples.py build/quickstart
  PYTHONPATH="$root" run why if_any "$installed_python" -m pytest -q ${filter:+-k "$filter"} tests/why tests/docs/test_deployment.py
}
