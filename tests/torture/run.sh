#!/usr/bin/env bash
# Runs the torture of the optimised build: every allocation and system call of each scenario fails in turn (see
# README.md).
#   tests/torture/run.sh BUILD            every point of most scenarios, every 61st point of the scenarios first-*
#   tests/torture/run.sh BUILD --all      every point
# The script prints each command. `BUILD/tests/torture/torture --point N SCENARIO` runs a point that the script skips.
set -euo pipefail
folder="$(dirname "${BASH_SOURCE[0]}")"
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
# Each function that the C ABI exports must have a scenario of its name, or be listed in left_out.txt.
names() { grep -hv '^#' "$@" | cut -d ' ' -f 1; }
difference="$(comm -3 <(names "$folder/../../capi/abi/symbols.txt" | sort) \
  <({ "$program-c" --list | grep '^billcore_'; names "$folder/left_out.txt"; } | sort))"
if [ -n "$difference" ]; then
  printf 'in symbols.txt, but without a scenario; or (to the right) twice, or in no library:\n%s\n' "$difference"
  failed=1
fi
for more in "" --from-there-on; do
  echo "$program-c --jobs 2 $more"
  "$program-c" --jobs 2 ${more:+"$more"} || failed=1
done
# billcore_response_header_count must not copy the headers: its scenario may have 12 allocations at most.
"$program-c" --jobs 1 billcore_response_header_count | awk '{print} /points tried/ && $(NF - 4) > 12 {exit 1}' || failed=1
[ "$failed" -eq 0 ] || { echo "torture: 1 failed"; exit 1; }
echo "torture: all tests passed"
