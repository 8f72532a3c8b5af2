#!/usr/bin/env bash
# Builds the site in build/docs: python/docs/site.sh. With `serve`, also serves it: http://127.0.0.1:8000/, or
# `serve PORT`. Needs a Python with the packages of tests/requirements.txt, or makes an environment with them. The
# reference of C needs doxygen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
if ! python3 -c 'import furo, jinja2, msgspec, myst_parser, sphinx_copybutton, sphinx_design' 2>/dev/null; then
  mapfile -t requirements < <(grep -v '^#' tests/requirements.txt)
  venv="$(bc_venv "${requirements[@]}")"
  export PATH="$venv/bin:$PATH"
fi
python3 -m sphinx -q -E -W --keep-going -d build/docs-doctrees python/docs build/docs
if type -P doxygen >/dev/null; then # the pages of the C headers are a site of their own below this one
  mkdir -p build
  doxygen capi/Doxyfile
  rm -rf build/docs/c
  cp -r build/docs-c/html build/docs/c
fi
echo "the site is in build/docs"
[ "${1:-}" != serve ] || python3 -m http.server --bind 127.0.0.1 --directory build/docs "${2:-8000}"
