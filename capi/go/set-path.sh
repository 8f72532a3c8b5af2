#!/usr/bin/env bash
# Changes the path of the Go module, wherever the tree contains it: capi/go/set-path.sh github.com/example/billcore-go
# The default path is below a host name that nobody can register. capi/go/go.mod states the path; the generator of
# core/interface reads it there.
set -euo pipefail
new="${1:?usage: capi/go/set-path.sh PATH}"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
old="$(sed -n 's/^module //p' capi/go/go.mod)"
if [[ ! "$new" =~ ^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_.~-]+)*$ ]]; then
  echo "capi/go/set-path.sh: '$new' is not a path that 'go get' accepts: it begins with a host name, such as github.com" >&2
  exit 2
fi
# shellcheck disable=SC2016 # perl expands the variables. A path ends before any character that could continue it.
git grep -lzIF "$old" -- . ':!CHANGELOG.md' ':!capi/go/set-path.sh' |
  OLD="$old" NEW="$new" xargs -0 perl -pi -e 's/(?<![\w.\/-])\Q$ENV{OLD}\E(?![\w.-])/$ENV{NEW}/g'
git ls-files -z 'capi/go/*.go' 'examples/*.go' 'tests/*.go' | xargs -0 gofmt -w # the order of the imports
echo "the Go module is $new"
