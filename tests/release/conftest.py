"""Fixtures: the folder of a release, and minimal Debian roots in which its pieces are installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from release import roots


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
        return roots.Root(roots.cached(*packages), changes, {"/dist": dist})

    return make
