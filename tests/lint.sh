#!/usr/bin/env bash
# Runs formatters, linters and type checkers over the whole tree. BUILD is the folder of a configured build, which has
# the compile commands. BILLCORE_LINT=quick skips clang-tidy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/setup.sh
build="${1:?usage: tests/lint.sh BUILD}"
failed=0
check() { # NAME COMMAND…
  local name="$1" output
  shift
  if output="$("$@" 2>&1)"; then
    echo "$name: ok"
  else
    printf '%s\n%s: failed\n' "$output" "$name"
    failed=1
  fi
}

files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done; }
mapfile -t cpp < <(files '*.cpp' '*.hpp' '*.c' '*.h')
mapfile -t shell < <(files '*.sh' .ci/run)
mapfile -t python < <(files '*.py' '*.pyi')
# The type checkers skip mistakes.py, which has errors on purpose, and __init__.py, whose types are in a stub file.
mapfile -t typed < <(files '*.py' '*.pyi' ':!tests/python/typing/mistakes.py' ':!python/billcore/__init__.py')
mapfile -t workflows < <(files '.github/workflows/*.yml')
mapfile -t json < <(files '*.json')
# All files except data and pictures.
mapfile -t texts < <(files ':!*.json' ':!*.svg' ':!tests/fuzz/regressions')

tidy() {
  local sources
  mapfile -t sources < <(files 'core/src/*.cpp' 'capi/src/*.cpp' 'python/src/*.cpp')
  python3 tests/tidy.py "$build" "$bc_cache/tidy" "$bc_jobs" "${sources[@]}"
}

# The sources must not contain TODO, FIXME or XXX.
stands_alone() {
  local found
  found="$(grep -nIE '\b(TODO|FIXME|XXX)\b' -- "${cpp[@]}" "${python[@]}" "${shell[@]}" | grep -v '^tests/lint.sh:' || true)"
  [ -z "$found" ] || { echo "$found"; return 1; }
}

# actionlint 1.7.7 is the latest release that Debian 12's Go 1.19 builds.
actionlint="$bc_cache/actionlint-1.7.7"
bc_once "$actionlint" bc_quietly actionlint "$actionlint.log" env GOBIN="$actionlint" CGO_ENABLED=0 GOTOOLCHAIN=local \
  go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7

check "generated files" python3 core/interface/generate.py --check
check "clang-format" clang-format --dry-run -Werror "${cpp[@]}"
[ "${BILLCORE_LINT:-}" = quick ] || check "clang-tidy" tidy
check "ruff" ruff check "${python[@]}"
check "ruff format" ruff format --check "${python[@]}"
check "mypy" mypy --cache-dir "$bc_cache/mypy" "${typed[@]}"
mapfile -t timed < <(files 'tests/*.py' 'tests/*.cpp' 'tests/*.go' 'tests/*.rs' 'capi/*_test.go' ':!tests/bench' ':!tests/clocks.py')
check "clocks" python3 tests/clocks.py "${timed[@]}"
check "mutants" python3 tests/mutants/run.py --check
check "shellcheck" shellcheck -x -S warning "${shell[@]}"
check "actionlint" "$actionlint/actionlint" -no-color "${workflows[@]}"
check "json" python3 -c 'import json, sys
for name in sys.argv[1:]:
    try:
        json.load(open(name, encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"{name}: {error}")' "${json[@]}"
mkdir -p build # for Doxygen, which makes only the last folder of a path
check "reference of C" doxygen capi/Doxyfile
check "codespell" codespell "${texts[@]}"
check "nothing left undone" stands_alone
[ "$failed" -eq 0 ] && echo "1 passed, 0 failed"
exit "$failed"
