#!/usr/bin/env bash
# Fuzzes JSON, the C ABI and parsers of the client (clang's libFuzzer, AddressSanitizer, UndefinedBehaviorSanitizer).
#   tests/fuzz/run.sh [SECONDS] [TARGET…]     runs each target for SECONDS, two targets at a time; 0 runs only known
#                                             inputs. Without SECONDS, a small target runs 2 s, any other target 3 s,
#                                             with a fixed random seed.
# The known inputs run first: the seeds, tests/fuzz/regressions, and earlier findings still kept in build/fuzz/findings.
# libFuzzer adds new corpus inputs to build/fuzz/corpus. Move a finding to tests/fuzz/regressions when its defect is
# fixed.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
. tests/setup.sh

small_targets=(arrow head redact)
all_targets=(abi value "${small_targets[@]}")
seconds=""
case "${1:-}" in '' | *[!0-9]*) ;; *) seconds="$1"; shift ;; esac
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=("${all_targets[@]}")
for target in "${targets[@]}"; do
  case " ${all_targets[*]} " in
    *" $target "*) ;;
    *) echo "tests/fuzz/run.sh: there is no target '$target'; there are: ${all_targets[*]}" >&2; exit 2 ;;
  esac
done

bc_packages ca-certificates ccache clang cmake libclang-rt-14-dev libcurl4-openssl-dev libssl-dev ninja-build python3 python3-venv zlib1g-dev
bc_ccache "$root"

build="$root/build/fuzz"
findings="$build/findings"
logs="$build/logs"
mkdir -p "$logs" "$findings"
build_targets() { cmake --preset fuzz && cmake --build "$build" -j "$bc_jobs" --target "${targets[@]/#/fuzz-}"; }
bc_say "building the fuzz targets"
bc_quietly "the build" build/fuzz/logs/build.log build_targets
rm -rf "$build/seeds"
PYTHONPATH="$root/tests" "$(bc_python)" -B tests/fuzz/make_corpus.py "$build/seeds"

# Runs one target with the known inputs, then with new ones. Prints a result line; returns non-zero after a finding.
fuzz() {
  local target="$1" program="build/fuzz/tests/fuzz/fuzz-$1" log="$logs/$1.log" status=0 known run coverage
  local time="${seconds:-3}"
  [ -n "$seconds" ] || [[ " ${small_targets[*]} " != *" $target "* ]] || time=2
  local options=(-max_len=8192 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -dict="$build/seeds/$target.dict"
    -artifact_prefix="build/fuzz/findings/$target/")
  [ -n "$seconds" ] || options+=(-seed=1)
  mkdir -p "$findings/$target" "$build/corpus/$target"
  mapfile -t known < <(find "tests/fuzz/regressions/$target" "build/fuzz/findings/$target" "build/fuzz/seeds/$target" -type f 2>/dev/null)
  "$program" "${options[@]}" "${known[@]}" >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ] && [ "$time" -gt 0 ]; then
    "$program" "${options[@]}" -max_total_time="$time" "$build/corpus/$target" "$build/seeds/$target" \
      >>"$log" 2>&1 || status=$?
  fi
  run="$(grep -a 'stat::number_of_executed_units' "$log" | tail -n 1 | awk '{print $2}' || true)"
  coverage="$(grep -aoE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$log" | tail -n 1 || true)"
  if [ "$status" -eq 0 ]; then
    printf 'ok      %-14s %s known inputs, %s runs, %s\n' "$target" "${#known[@]}" "${run:-0}" "${coverage:-no coverage}"
    return 0
  fi
  printf 'FAILED  %-14s status %s, log build/fuzz/logs/%s.log\n' "$target" "$status" "$target"
  grep -aE '^broken promise|ERROR: |runtime error' "$log" | sed 's/^/        /' | head -n 5 || true
  # Prints the failing input: the file to which libFuzzer wrote a new finding, or else the known input that ran last.
  printf '        reproduce: %s %s\n' "$program" \
    "$(sed -nE 's/.*Test unit written to |^Running: //p' "$log" | tail -n 1)"
  return 1
}

bc_say "fuzzing, ${seconds:-2 or 3} s each"
failed=0
for target in "${targets[@]}"; do
  [ "$(jobs -r | wc -l)" -lt 2 ] || wait -n || failed=$((failed + 1))
  fuzz "$target" &
done
while [ -n "$(jobs -p)" ]; do wait -n || failed=$((failed + 1)); done
printf '%d passed, %d failed\n' "$((${#targets[@]} - failed))" "$failed"
[ "$failed" -eq 0 ]
