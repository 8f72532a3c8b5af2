"""Checks of the built libraries and modules: which libraries they need, which symbols they export, which threads they
start.

$BILLCORE_RELEASE_BUILD is the folder of a release build of the C libraries, and $BILLCORE_PYTHON_PACKAGE is the
folder of the installed Python package.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from billcore.testing import Sandbox

BUILD = Path(os.environ["BILLCORE_RELEASE_BUILD"])
ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = Path(os.environ["BILLCORE_PYTHON_PACKAGE"])

# The runtime libraries of C and C++, which every library may need.
RUNTIME = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(library: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", library)))


def module(name: str) -> Path:
    (found,) = PACKAGE.glob(f"{name}.*.so")
    return found


def test_the_verifier_library_needs_libcrypto_alone() -> None:
    assert needed(BUILD / "capi/libbillcore-webhook.so") - RUNTIME == {"libcrypto.so.3"}
    everything = run("ldd", BUILD / "capi/libbillcore-webhook.so")
    assert "libcrypto" in everything and "curl" not in everything and "libssl" not in everything


def test_the_client_library_needs_libcurl_zlib_and_the_verifier_library() -> None:
    wanted = needed(BUILD / "capi/libbillcore.so") - RUNTIME
    assert wanted - {"libcrypto.so.3"} == {"libcurl.so.4", "libz.so.1", "libbillcore-webhook.so.0"}


def test_the_verifier_module_needs_libcrypto_alone() -> None:
    assert needed(module("_webhook")) - RUNTIME <= {"libcrypto.so.3"}
    assert {"libcurl.so.4", "libz.so.1"} <= needed(module("_client"))


def test_the_modules_export_their_initialisation_alone() -> None:
    for name in ("_webhook", "_client"):
        symbols = {row.split()[2].split("@")[0] for row in run("nm", "-D", "--defined-only", module(name)).splitlines()}
        assert symbols == {f"PyInit_{name}"}


def test_the_exports_are_those_of_symbols_txt_and_of_the_header() -> None:
    libraries = [BUILD / "capi" / name for name in ("libbillcore-webhook.so", "libbillcore.so")]
    run(sys.executable, ROOT / "tests/capi/shared/check_symbols.py", ROOT / "capi", *libraries)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as started:
        yield started


def threads_during_a_call(process: subprocess.Popen[str], request: str, sandbox: Sandbox) -> int:
    """Returns the largest number of threads in the process while it waits for the sandbox's delayed answer to its
    call."""
    sandbox.control.reset()
    sandbox.control.fault("delay", method="GET", delay=1.0)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request + "\n")
    process.stdin.flush()
    most = 0
    while not select.select([process.stdout], [], [], 0.02)[0]:
        most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
    assert "ok" in json.loads(process.stdout.readline())
    return most


PYTHON_CALLER = """
import json, sys, billcore
for line in sys.stdin:
    client = billcore.Client(**json.loads(line)["client"])
    print(json.dumps({"ok": client.products.list().first().id}), flush=True)
"""


@pytest.mark.parametrize("language", ["cpp", "c", "python"])
def test_no_background_thread_during_a_call(language: str, sandbox: Sandbox) -> None:
    driver = {
        "cpp": [str(BUILD / "tests/core/wire-driver-cpp")],
        "c": [str(BUILD / "tests/capi/wire-driver-c")],
        "python": [sys.executable, "-c", PYTHON_CALLER],
    }[language]
    # The URL must have an IP address, because libcurl resolves host names in a short-lived thread.
    assert "//127.0.0.1:" in sandbox.base_url
    client = {"base_url": sandbox.base_url, "api_key": sandbox.api_key}
    request = json.dumps({"op": "products.list", "client": client, "args": {}, "take": "first"})
    with subprocess.Popen(driver, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert threads_during_a_call(process, request, sandbox) == 1
        assert process.stdin is not None
        process.stdin.close()
