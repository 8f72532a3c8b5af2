#!/usr/bin/env bash
# Tests an aarch64 wheel on a machine with another processor: in a Debian root for arm64, whose programs qemu interprets.
#   python/wheel/run_foreign.sh WHEEL [ARGUMENT…]
# WHEEL: a wheel for aarch64, glibc and CPython 3.11, from build.sh. ARGUMENT: what pytest gets instead of the default
# tests, which take two minutes, after ten minutes for the root on the first run.
# Needs Debian 12 and root. Until this machine restarts, its kernel runs aarch64 programs with qemu.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/setup.sh
wheel="$(realpath "${1:?usage: python/wheel/run_foreign.sh WHEEL [ARGUMENT…]}")"
shift
case "$wheel" in
  *-cp311-*aarch64.whl) ;;
  *) echo "python/wheel/run_foreign.sh: $wheel is not a wheel for CPython 3.11 on aarch64" >&2; exit 2 ;;
esac
if [ "$(id -u)" -ne 0 ]; then
  echo "python/wheel/run_foreign.sh: run this as root: it makes a Debian root and mounts folders in it" >&2
  exit 2
fi
[ "$#" -gt 0 ] || set -- tests/wheel/test_apart.py \
  tests/python/test_{durations,errors,event,exit,first_calls,import,large_answers,model,pickles,process_life,proxy,receive,signatures,webhooks}.py

bc_packages debootstrap qemu-user-static
handlers=/proc/sys/fs/binfmt_misc
[ -e "$handlers/register" ] || mount -t binfmt_misc binfmt_misc "$handlers"
[ -e "$handlers/qemu-aarch64" ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$handlers/register"

mapfile -t requirements < <(grep -hE '^(hypothesis|jinja2|msgspec|opentelemetry-sdk|pyarrow|pytest|pytest-xdist|uvicorn)==' tests/requirements.txt)
suite=bookworm
root="$bc_cache/foreign-arm64-$(printf '%s\n' "$suite" "${requirements[@]}" | sha256sum | cut -c1-16)"

make_root() { # FOLDER
  mkdir -p "$1"
  debootstrap --arch=arm64 --variant=minbase --include=ca-certificates,iproute2,openssl,python3,python3-venv "$suite" "$1" || return
  cp /etc/resolv.conf /etc/hosts "$1/etc/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$1/etc/"
  cp -r /usr/local/share/ca-certificates "$1/usr/local/share/" # of a network whose proxy has a certificate of its own
  chroot "$1" update-ca-certificates &&
    chroot "$1" python3 -m venv /venv &&
    chroot "$1" /venv/bin/pip install --quiet "${requirements[@]}"
}

# shellcheck disable=SC2016 # the inner shell expands it
in_root='
  mkdir -p "$0/clone" "$0/wheel"
  mount --bind "$0" "$0" # tests change the mounts below it, which needs a mount point
  mount --bind "$PWD" "$0/clone" && mount -o remount,bind,ro "$0/clone"
  mount --bind "$1" "$0/wheel" && mount -o remount,bind,ro "$0/wheel"
  mount -t proc proc "$0/proc"
  mount --rbind /dev "$0/dev"
  mount -t tmpfs tmpfs "$0/tmp"
  exec chroot "$0" sh -ec "
    /venv/bin/pip install --quiet --no-index --no-deps --force-reinstall \"\$BILLCORE_WHEEL\"
    cd /clone && exec /venv/bin/python -m pytest -q -p no:cacheprovider \"\$@\"" sh "${@:2}"'
[ -e "$root/complete" ] || bc_say "making a Debian root for arm64, which takes ten minutes"
bc_once "$root" bc_quietly "making the root" "$root.log" make_root "$root"
bc_say "testing $(basename "$wheel") on $(chroot "$root" uname -m)"
BILLCORE_WHEEL="/wheel/$(basename "$wheel")" PYTHONPATH=/clone:/clone/tests:/clone/python/sandbox PYTHONDONTWRITEBYTECODE=1 \
  unshare --mount bash -ec "$in_root" "$root" "$(dirname "$wheel")" "$@"
