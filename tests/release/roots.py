"""Minimal Debian roots, in which a test installs what a release contains.

The cache keeps the base, which debootstrap makes, and for each set of packages a layer above it. Each test has a layer
of its own above those. Each command mounts the layers as one overlay, in a mount namespace of its own, so nothing stays
mounted when a test ends or is killed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

SUITE = "bookworm"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "billcore"
# What tells programs how this machine reaches the network: its proxy, its own certificates, its package indexes.
SETTINGS = (
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "GOPROXY",
    "PIP_INDEX_URL",
)
FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf")
OWN_CERTIFICATES = Path("/usr/local/share/ca-certificates")
# In a root: the home folder, the path of programs, the folder with the caches of compilers.
HOME = "/root"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CACHED = "/cached"


def prerequisites() -> str | None:
    """Says why this machine can make no root, or returns None."""
    if os.geteuid() != 0:
        return "a minimal root needs the user root, for chroot and mount"
    if not shutil.which("debootstrap"):
        return "debootstrap is missing: install the package debootstrap"
    return None


def base() -> Path:
    """Returns Debian's smallest root with ca-certificates and the network settings of this machine."""
    return _once("base", _make_base)


def with_packages(*packages: str) -> list[Path]:
    """Returns the layers of a root with Debian's `packages`, the uppermost first. They are never changed."""
    if not packages:
        return [base()]
    layer = _once(" ".join(sorted(packages)), lambda folder: _install(folder, packages))
    return [layer / "upper", base()]


def _once(name: str, make: Callable[[Path], None]) -> Path:
    """Returns a folder of the cache; calls `make` first if the folder does not exist or is unfinished."""
    folder = CACHE / f"root-{hashlib.sha256(f'{SUITE} {name}'.encode()).hexdigest()[:16]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            (folder / ".made").touch()
    return folder


def _make_base(folder: Path) -> None:
    bare = ["debootstrap", "--variant=minbase", SUITE, str(folder)]
    subprocess.run(bare, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    for file in FILES:
        if os.path.exists(file):
            shutil.copyfile(file, f"{folder}{file}")
    if OWN_CERTIFICATES.is_dir():
        shutil.copytree(OWN_CERTIFICATES, f"{folder}{OWN_CERTIFICATES}", dirs_exist_ok=True)
    install = "apt-get install -y -o Dpkg::Use-Pty=0 --no-install-recommends ca-certificates"
    script = f"apt-get update && {install} && apt-get clean"
    subprocess.run(["chroot", folder, "sh", "-c", script], check=True, stdout=subprocess.DEVNULL)


def _install(folder: Path, packages: tuple[str, ...]) -> None:
    install = f"apt-get install -y --no-install-recommends {shlex.join(packages)} && apt-get clean"
    Root([base()], folder, {}).run(install)


class Root:
    """A minimal root for one test. What its commands change lasts until the test ends. The home folder is /root."""

    def __init__(self, layers: list[Path], changes: Path, binds: Mapping[str, Path]) -> None:
        self._layers = layers
        self._changes = changes
        self._binds = dict(binds)
        self._env = {"HOME": HOME, "PATH": PATH, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        self._env |= {name: os.environ[name] for name in SETTINGS if name in os.environ}
        for name in ("upper", "work", "mounted"):
            (changes / name).mkdir(parents=True)

    def bind(self, source: Path, to: str) -> None:
        """Shows the folder `source` of this machine in the root, read-only, as the folder `to`."""
        self._binds[to] = source

    def use_go(self) -> None:
        """Shows this machine's Go, because Debian 12 has an older one; skips the test if there is none."""
        go = shutil.which("go")
        if go is None:
            pytest.skip("there is no Go; the area go says so")
        found = subprocess.run([go, "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
        self.bind(Path(found), "/usr/local/go")

    def cache_compilations(self) -> None:
        """Lets a root compile what an earlier test compiled without compiling it again: with Go, or Debian's ccache."""
        for name in ("ccache", "go-build"):
            (CACHE / name).mkdir(exist_ok=True)
            self._binds[f"{CACHED}/{name}"] = CACHE / name
        self._env |= {"CCACHE_DIR": f"{CACHED}/ccache", "GOCACHE": f"{CACHED}/go-build"}
        self._env["PATH"] = f"/usr/lib/ccache:{PATH}"  # which has a cc and a c++ that use the cache

    def _place(self, to: str) -> Path:
        place = self._changes / "upper" / os.path.join(HOME, to).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def copy(self, source: Path, to: str) -> None:
        """Copies a file or a folder of this machine to the path `to`, which is relative to the home folder."""
        if source.is_dir():
            shutil.copytree(source, self._place(to), symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, self._place(to))

    def write(self, to: str, text: str) -> None:
        """Writes a file; its path `to` is relative to the home folder."""
        self._place(to).write_text(text)

    def run(
        self, command: str, *, env: Mapping[str, str] | None = None, fails: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Runs a shell command as root, in the home folder; its output has stdout and stderr together.

        A status that is not 0 is an AssertionError with the output; with `fails`, the status 0 is one.
        """
        mounted = self._changes / "mounted"
        lower = ":".join(map(str, self._layers))
        options = f"lowerdir={lower},upperdir={self._changes / 'upper'},workdir={self._changes / 'work'}"
        steps = [
            f"mount -t overlay overlay -o {shlex.quote(options)} {mounted}",
            f"mount -t proc proc {mounted}/proc",
            f"mount --rbind /dev {mounted}/dev",
        ]
        for to, source in self._binds.items():
            place = shlex.quote(f"{mounted}{to}")
            steps.append(f"mkdir -p {place} && mount --bind {shlex.quote(str(source))} {place}")
            if not to.startswith(CACHED):
                steps.append(f"mount -o remount,bind,ro {place}")
        steps.append(f'exec chroot {mounted} bash -c "cd && $0"')
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-e", "-c", "\n".join(steps), command],
            env={**self._env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode != 0) == fails, f"{command}: status {done.returncode}\n{done.stdout}"
        return done
