"""Minimal Debian roots, in which a test installs what a release contains.

Debian's debootstrap makes a root once and keeps it in the cache. Each test has an overlay of its own above that root,
and each command mounts it anew in a mount namespace, so nothing stays mounted when a test ends or is killed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

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


def prerequisites() -> str | None:
    """Says why this machine can make no root, or returns None."""
    if os.geteuid() != 0:
        return "a minimal root needs the user root, for chroot and mount"
    if not shutil.which("debootstrap"):
        return "debootstrap is missing: install the package debootstrap"
    return None


def cached(*packages: str) -> Path:
    """Returns a root with ca-certificates and Debian's `packages`, made on the first call and never changed."""
    packages = tuple(sorted(packages))
    key = hashlib.sha256("\n".join([SUITE, *packages]).encode()).hexdigest()[:16]
    folder = CACHE / f"root-{key}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            _make(folder, packages)
            (folder / ".made").touch()
    os.utime(folder)
    return folder


def _make(folder: Path, packages: tuple[str, ...]) -> None:
    if packages:
        subprocess.run(["cp", "-a", cached(), folder], check=True)
        script = 'apt-get install -y --no-install-recommends "$@"; update-ca-certificates; apt-get clean'
    else:
        bare = ["debootstrap", "--variant=minbase", SUITE, str(folder)]
        subprocess.run(bare, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        for file in FILES:
            if os.path.exists(file):
                shutil.copyfile(file, f"{folder}{file}")
        if OWN_CERTIFICATES.is_dir():
            shutil.copytree(OWN_CERTIFICATES, f"{folder}{OWN_CERTIFICATES}", dirs_exist_ok=True)
        script = "apt-get update; apt-get install -y --no-install-recommends ca-certificates; apt-get clean"
    chroot = [
        "chroot",
        str(folder),
        "sh",
        "-e",
        "-c",
        f"export DEBIAN_FRONTEND=noninteractive; {script}",
        "sh",
        *packages,
    ]
    subprocess.run(chroot, check=True, stdout=subprocess.DEVNULL)


class Root:
    """A minimal root that a test changes as it likes: changes stay until the test ends."""

    def __init__(self, below: Path, changes: Path, binds: Mapping[str, Path]) -> None:
        self._below = below
        self._changes = changes
        self._binds = dict(binds)
        self._cached: dict[str, str] = {}
        for name in ("upper", "work", "mounted"):
            (changes / name).mkdir(parents=True)

    def bind(self, source: Path, to: str) -> None:
        """Shows the folder `source` of this machine in the root, read-only, as the folder `to`."""
        self._binds[to] = source

    def cache_compilations(self) -> None:
        """Lets a root compile what an earlier test compiled without compiling it again: with Go, or Debian's ccache."""
        for name in ("ccache", "go-build"):
            (CACHE / name).mkdir(exist_ok=True)
            self._binds[f"/cached/{name}"] = CACHE / name
        self._cached = {
            **{"CC": "ccache cc", "CXX": "ccache c++", "CCACHE_DIR": "/cached/ccache"},
            "GOCACHE": "/cached/go-build",
        }

    def copy(self, source: Path, to: str) -> None:
        """Copies a file or a folder of this machine into the root, as `to`."""
        target = self._changes / "upper" / to.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)

    def write(self, to: str, text: str) -> None:
        """Writes a file of the root."""
        target = self._changes / "upper" / to.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def run(
        self, command: str, *, env: Mapping[str, str] | None = None, fails: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Runs a shell command as root in the root, in the folder /root; output has stdout and stderr together.

        A status that is not 0 is an AssertionError with the output; with `fails`, the status 0 is one.
        """
        mounted = self._changes / "mounted"
        layers = f"lowerdir={self._below},upperdir={self._changes / 'upper'},workdir={self._changes / 'work'}"
        steps = [
            f"mount -t overlay overlay -o {shlex.quote(layers)} {mounted}",
            f"mount -t proc proc {mounted}/proc",
            f"mount --rbind /dev {mounted}/dev",
        ]
        for to, source in self._binds.items():
            place = shlex.quote(f"{mounted}{to}")
            steps.append(f"mkdir -p {place} && mount --bind {shlex.quote(str(source))} {place}")
            if not to.startswith("/cached/"):
                steps.append(f"mount -o remount,bind,ro {place}")
        steps.append(f'exec chroot {mounted} bash -c "cd && $0"')
        settings = {name: os.environ[name] for name in SETTINGS if name in os.environ}
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-e", "-c", "\n".join(steps), command],
            env={
                "HOME": "/root",
                "PATH": path,
                "LC_ALL": "C.UTF-8",
                "DEBIAN_FRONTEND": "noninteractive",
                **settings,
                **self._cached,
                **(env or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert (done.returncode != 0) == fails, f"{command}: status {done.returncode}\n{done.stdout}"
        return done
