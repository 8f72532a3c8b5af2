"""A sandbox that delivers webhooks. All tests share the sandbox; each test starts with the seeded data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from billcore.testing import Sandbox
from support.waiting import GENEROUS

from .support import SECRET

# Hypothesis examples have no deadline, because a busy machine may run an example slowly.
settings.register_profile("billcore", deadline=None)
settings.load_profile("billcore")


@pytest.fixture(scope="session")
def _sandbox_process() -> Iterator[Sandbox]:
    with Sandbox(secret=SECRET, retry_schedule=[0.02], delivery_timeout=GENEROUS) as process:
        yield process


@pytest.fixture
def sandbox(_sandbox_process: Sandbox) -> Sandbox:
    """A sandbox that signs with SECRET."""
    _sandbox_process.control.reset()
    return _sandbox_process
