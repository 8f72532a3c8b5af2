"""One sandbox process for all tests with default options; before each test with the fixture `sandbox` it is reset."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billcore.testing import Control, Sandbox, SandboxAccount
from sandbox.shop import Shop
from sandbox.support import Receiver, Service, account
from support.accounts import new_account
from support.waiting import GENEROUS


@pytest.fixture(scope="session")
def process() -> Iterator[Sandbox]:
    # With the default time-out, a busy machine lets an attempt time out, and the receiver gets the event twice.
    with Sandbox(retry_schedule=[0.02, 0.05, 0.1], delivery_timeout=GENEROUS) as sandbox:
        yield sandbox


@pytest.fixture
def mine(process: Sandbox) -> Iterator[SandboxAccount]:
    """A new account for one test, which other tests do not change or reset."""
    with new_account(process) as account:
        yield account


@pytest.fixture
def shop(process: Sandbox) -> Iterator[Shop]:
    account = process.new_account(demo=False)
    yield Shop(account)
    process.control.delete_account(Service(account.accounts[0]).account)


@pytest.fixture
def sandbox(process: Sandbox) -> Iterator[Sandbox]:
    process.control.reset()
    yield process
    # Faults that name no account could also happen in a later test with the fixture `mine`.
    for fault in process.control.faults():
        process.control.delete_fault(fault["id"])


@pytest.fixture
def control(sandbox: Sandbox) -> Control:
    return sandbox.control


@pytest.fixture
def service(sandbox: Sandbox) -> Service:
    """Sends requests as the first account."""
    return account(sandbox, 0)


@pytest.fixture
def other(sandbox: Sandbox) -> Service:
    """Sends requests as the second account."""
    return account(sandbox, 1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as listening:
        yield listening
