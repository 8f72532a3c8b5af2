#!/usr/bin/env bash
# Torture of the optimised build: every allocation and every system call of each scenario fails in turn (see README.md).
#   tests/torture/run.sh BUILD            bounded: every point, but only some of those of the first use in a process
#   tests/torture/run.sh BUILD --all      every point
# Prints the first point of those left out; BUILD/tests/torture/torture runs any others.
set -euo pipefail
build="$1"
program="$build/tests/torture/torture"
every=61
[ "${2:-}" = --all ] && every=1

mapfile -t usual < <("$program" --list | grep -v '^first-')
mapfile -t first < <("$program" --list | grep '^first-')
failed=0
run() {
  echo "$program $*"
  "$program" "$@" || failed=1
}
run --jobs 2 "${usual[@]}"
run --jobs 2 --from-there-on "${usual[@]}"
run --jobs 2 --start 7 --every "$every" "${first[@]}"
[ "$failed" -eq 0 ] || { echo "torture: 1 failed"; exit 1; }
echo "torture: all tests passed"
