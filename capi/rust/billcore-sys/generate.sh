#!/usr/bin/env bash
# Writes src/webhook.rs and src/client.rs from the C headers: generate.sh BINDGEN [--check]. With --check the script
# writes nothing, and fails when a file differs from the file that the script would write. bindgen needs libclang.
set -euo pipefail
bindgen="${1:?usage: generate.sh BINDGEN [--check]}"
cd "$(dirname "${BASH_SOURCE[0]}")"
include="$(realpath ../../include)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
# Names that core/interface/generate.py already declares: bindgen must skip them.
generated="$(sed -nE 's/^pub (const|type|struct) ([A-Za-z0-9_]+).*/\2/p' src/names.rs src/operations.rs | paste -sd '|')"
common=(--use-core --default-enum-style consts --generate-cstr --no-doc-comments --no-layout-tests --rust-target 1.85
  --rust-edition 2024 --formatter none --disable-header-comment --blocklist-item "$generated")
of_client='.*/billcore/(client|client_handle|call_options|client_options|operation|operation_options|operations|request_options|options|cancel|hooks|loop|many|pager|pagination)[.]h'


make() { # FILE HEADERS OPTION…
  {
    echo "// Generated from billcore/$2 by generate.sh."
    printf '#include <billcore/%s>\n' $2 >"$work/headers.h"
    "$bindgen" "${common[@]}" "${@:3}" "$work/headers.h" -- -I"$include" -std=c11
  } >"$work/$1"
  rustfmt --edition 2024 --config-path ../../.. "$work/$1"
  # Delete the names that bindgen gives to anonymous types: they depend on the positions of the types in the header.
  sed -i -E '/^pub type _bindgen_ty_[0-9]+ = /d; s/: _bindgen_ty_[0-9]+ = /: i32 = /' "$work/$1"
  sed -i -E "/^pub const ($generated): /d" "$work/$1" # --blocklist-item skips types and functions, but not constants
}
make webhook.rs webhook.h --allowlist-item 'billcore_.*|BILLCORE_.*' --raw-line 'use crate::names::*;'
make client.rs 'loop.h many.h' --allowlist-file "$of_client" --no-recursive-allowlist \
  --raw-line 'use crate::{names::*, operations::*, webhook::*};'
for file in webhook.rs client.rs; do
  if [ "${2:-}" = --check ]; then
    diff -u "src/$file" "$work/$file" || { echo "$file is stale: run capi/rust/billcore-sys/generate.sh" >&2; exit 1; }
  else
    cp "$work/$file" "src/$file"
  fi
done
