"""Fixtures: a sandbox with default options, and a new account of it for each test. A conftest.py imports them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from billcore.testing import Sandbox, SandboxAccount


@contextmanager
def new_account(sandbox: Sandbox) -> Iterator[SandboxAccount]:
    """Makes an account with demo data (6 subscriptions, 65 orders), and deletes it at the end of the block."""
    account = sandbox.new_account()
    yield account
    sandbox.control.delete_account(account.base_url.rpartition("/")[2])


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def account(sandbox: Sandbox) -> Iterator[SandboxAccount]:
    with new_account(sandbox) as account:
        yield account
