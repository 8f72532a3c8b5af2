"""Fixtures: a sandbox, and a new account of it for each test: 6 subscriptions with 65 orders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billcore.testing import Sandbox, SandboxAccount


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def account(sandbox: Sandbox) -> Iterator[SandboxAccount]:
    account = sandbox.new_account()
    yield account
    sandbox.control.delete_account(account.base_url.rpartition("/")[2])
