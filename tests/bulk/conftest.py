"""Fixtures: a sandbox, and an account of it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billcore.testing import Sandbox
from support.waiting import until

from .support import Scene, threads


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def scene(sandbox: Sandbox) -> Iterator[Scene]:
    """An account with six subscriptions. After the test, no thread of a reading is left."""
    account = sandbox.new_account()
    scene = Scene(account)
    yield scene
    scene.client.close()
    until(lambda: not threads())
    sandbox.control.delete_account(account.base_url.rpartition("/")[2])
