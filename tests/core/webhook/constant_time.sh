#!/bin/sh
# Runs every case of constant-time-test under memcheck: memcheck must report errors in the case leak-memcmp and in
# no others.
# Usage: constant_time.sh PROGRAM
set -eu
program=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
leaky=99
passed=0
failed=0

for case in $("$program"); do
  status=0
  valgrind --tool=memcheck --error-exitcode=$leaky --quiet --leak-check=no "$program" "$case" >"$log" 2>&1 || status=$?
  case "$case" in
    leak-*) expected=$leaky ;;
    *) expected=0 ;;
  esac
  if [ "$status" -eq "$expected" ]; then
    passed=$((passed + 1))
    continue
  fi
  failed=$((failed + 1))
  cat "$log"
  echo "$case: status $status, not $expected ($leaky: memcheck saw a branch or an address that depends on a secret)"
done

# A program that lists no cases must not pass.
[ "$passed" -ge 7 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
