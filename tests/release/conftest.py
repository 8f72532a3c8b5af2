"""Fixtures: the folder of a release, and minimal Debian roots in which its pieces are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from release import roots

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder that release.sh wrote, from the environment variable BILLCORE_DIST."""
    folder = os.environ.get("BILLCORE_DIST")
    if not folder:
        pytest.fail("BILLCORE_DIST is not set: run tests/run.sh release, or release.sh and set it to the folder dist")
    return Path(folder).resolve()


@pytest.fixture
def minimal_root(tmp_path: Path, dist: Path) -> Callable[..., roots.Root]:
    """Returns a function that makes a root with Debian's base, ca-certificates and the packages that it is given.

    The folder of the release is /dist in the root. The root is on this machine's network.
    """
    if reason := roots.prerequisites():
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)

    def make(*packages: str) -> roots.Root:
        changes = tmp_path / f"root-{len(list(tmp_path.glob('root-*')))}"
        return roots.Root(roots.with_packages(*packages), changes, {"/dist": dist})

    return make


@pytest.fixture(scope="session")
def service() -> Iterator[dict[str, str]]:
    """Starts a sandbox on this machine; gives the environment variables of a program that calls it."""
    command = [sys.executable, "-m", "billcore_sandbox", "--port", "0", "--seed", "1", "--exit-with-stdin"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python/sandbox")}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sandbox:
        assert sandbox.stdin is not None
        assert sandbox.stdout is not None
        ready = json.loads(sandbox.stdout.readline())
        yield {"BILLCORE_BASE_URL": ready["base_url"], "BILLCORE_API_KEY": ready["api_key"]}
        sandbox.stdin.close()
