"""pytest plugin: the fixtures `billcore_sandbox` and `signed_event`.

pytest imports this module in every run, so the module imports only pytest. The fixtures import billcore.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from billcore.testing import Sandbox, SandboxAccount, SignedEvent


@pytest.fixture(scope="session")
def _billcore_sandbox_process() -> Iterator[Sandbox]:
    """One sandbox process for the whole run, because a start takes longer than a new account."""
    from billcore.testing import Sandbox

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def billcore_sandbox(_billcore_sandbox_process: Sandbox) -> Iterator[SandboxAccount]:
    """A new account with demo data. `accounts[1]` is another new account. Both are deleted after the test."""
    process = _billcore_sandbox_process
    own, other = process.new_account(), process.new_account()
    own.accounts.extend(other.accounts)
    yield own
    for account in own.accounts:
        process.control.delete_account(account.base_url.rpartition("/")[2])


@pytest.fixture(scope="session")
def signed_event() -> SignedEvent:
    """The function billcore.testing.event, which makes the body and the signature of a webhook."""
    from billcore.testing import event

    return event
