"""What the numbers depend on: processor, library versions. Nothing that names the machine."""

from __future__ import annotations

import platform
import re
import ssl
import subprocess
from importlib.metadata import version
from pathlib import Path

PEERS = ("msgspec", "orjson", "standardwebhooks", "stripe", "svix")


def _first_line(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0].strip()


def facts() -> dict[str, str]:
    cpu = Path("/proc/cpuinfo").read_text("utf-8")
    model = re.search(r"^model name\s*: (.*)$", cpu, re.MULTILINE)
    return {
        "cpu": model[1] if model else platform.machine(),
        "sha_extensions": "yes" if re.search(r"\b(sha_ni|sha2)\b", cpu) else "no",
        "compiler": _first_line("c++", "--version"),
        "openssl": re.sub(r" \(Library.*", "", _first_line("openssl", "version")),
        "openssl_of_python": ssl.OPENSSL_VERSION,
        "python": platform.python_version(),
        "billcore": version("billcore"),
        **{name: version(name) for name in PEERS},
    }
