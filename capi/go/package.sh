#!/usr/bin/env bash
# Writes the Go modules into FOLDER/go, as a module proxy that the go command reads by a file URL:
#   capi/go/package.sh FOLDER [TARGET…]
# TARGET is one of python/wheel/toolchain.sh, by default all of them: a module for another target is written without its
# library. The environment variable SOURCE_DATE_EPOCH is the time of the release.
set -euo pipefail
folder="$(realpath -m "${1:?usage: capi/go/package.sh FOLDER [TARGET…]}")"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
. python/wheel/toolchain.sh
targets=("${@:2}")
[ "${#targets[@]}" -gt 0 ] || targets=("${wheel_targets[@]}")
archives=()
for target in "${targets[@]}"; do
  case " ${wheel_targets[*]} " in
    *" $target "*) ;;
    *) echo "capi/go/package.sh: there is no target '$target'; there are: ${wheel_targets[*]}" >&2; exit 2 ;;
  esac
  archives+=("$target=$(capi/go/archive.sh "$target")/libbillcore.a")
done
wheel_use "${targets[0]}"
"$wheel_python" capi/go/modules.py "$folder/go" "${archives[@]}"
