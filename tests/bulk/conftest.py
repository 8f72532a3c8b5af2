"""Fixtures: a sandbox, and an account of it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billcore.testing import SandboxAccount
from support.accounts import account, sandbox
from support.waiting import until

from .support import Scene, threads

__all__ = ["account", "sandbox"]


@pytest.fixture
def scene(account: SandboxAccount) -> Iterator[Scene]:
    """An account with six subscriptions. After the test, no thread of a reading is left."""
    scene = Scene(account)
    yield scene
    scene.client.close()
    until(lambda: not threads())
