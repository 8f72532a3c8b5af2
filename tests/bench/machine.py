"""Collects facts that affect measured times, such as the processor and library versions, but no facts that identify
the machine."""

from __future__ import annotations

import os
import platform
import re
import ssl
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import billcore


def processors() -> list[int]:
    """Returns the processors on which this process may run."""
    return sorted(os.sched_getaffinity(0))


def first_line(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0].strip()


def _package() -> str:
    """Describes the measured Python package: its release and the libraries it uses."""
    info = billcore.build_info()
    kind = "wheel" if info["self_contained"] else "built from source"
    return (
        " ".join([info["version"], f"({kind}:", *(f"{name} {release}" for name, release in info["libraries"].items())])
        + ")"
    )


def _processor(cpu: str) -> str:
    """Names the processor, with its family and model, because some virtual machines name only its maker."""
    found = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", cpu, re.MULTILINE))
    if "cpu family" not in found:
        return platform.machine()
    return f"{found['model name']} (family {found['cpu family']} model {found['model']})"


def facts(peers: Iterable[str]) -> dict[str, str]:
    cpu = Path("/proc/cpuinfo").read_text("utf-8")
    return {
        "cpu": _processor(cpu),
        "sha_extensions": "yes" if re.search(r"\b(sha_ni|sha2)\b", cpu) else "no",
        "compiler": first_line("c++", "--version"),
        "openssl": re.sub(r" \(Library.*", "", first_line("openssl", "version")),
        "openssl_of_python": ssl.OPENSSL_VERSION,
        "python": f"{platform.python_version()} ({Path(sys.executable).resolve()})",
        "billcore": _package(),
        **{name: version(name) for name in peers},
    }


def libcurl() -> str:
    return first_line("curl-config", "--version").removeprefix("libcurl ")


def facts_of_clients(peers: Iterable[str]) -> dict[str, str]:
    """Returns the result of facts(), and the versions of libcurl and Go."""
    return {
        **facts(peers),
        "libcurl": libcurl(),
        "go": first_line("go", "env", "GOVERSION").removeprefix("go"),
    }
