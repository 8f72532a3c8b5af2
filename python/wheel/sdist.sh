#!/usr/bin/env bash
# Makes what is the same for all interpreters and processors: the source distribution of billcore, and the wheel and the
# source distribution of the sandbox.
#   python/wheel/sdist.sh FOLDER
# Two runs of one commit give equal bytes. Works on a fresh Debian 12 machine, as root or with the needed packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
output="$(realpath "${1:?usage: python/wheel/sdist.sh FOLDER}")"
[ -d "$output" ] || { echo "python/wheel/sdist.sh: there is no folder $output" >&2; exit 2; }

bc_packages ca-certificates python3 python3-venv
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-1577836800}" # by default the time that finish.py gives to files
mapfile -t requirements < <(grep -hE '^(django-htmx|hatchling|pybind11|scikit-build-core)==' tests/requirements.txt python/wheel/requirements.txt | sort -u)
python="$(bc_venv "${requirements[@]}")/bin/python"
mkdir -p build
bc_say "making the source distributions, and the wheel of the sandbox"
bc_quietly "making the source distribution" build/sdist.log "$python" -c \
  'import sys; sys.path.insert(0, "python/wheel"); import backend; backend.build_sdist(sys.argv[1])' "$output"
(cd python/sandbox && bc_quietly "packing the sandbox" ../../build/sandbox.log "$python" -m hatchling build -t sdist -t wheel -d "$output")
ls -l "$output"/*.tar.gz "$output"/billcore_sandbox-*.whl
