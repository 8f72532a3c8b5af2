"""pytest plugin: the fixtures `billcore_sandbox` and `signed_event`.

pytest imports this module in every run, so the module imports only pytest. The fixtures import billcore.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from billcore.testing import Sandbox, SignedEvent


@pytest.fixture(scope="session")
def _billcore_sandbox_process() -> Iterator[Sandbox]:
    """One sandbox process for the whole run, because starting a sandbox takes longer than resetting it."""
    from billcore.testing import Sandbox

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def billcore_sandbox(_billcore_sandbox_process: Sandbox) -> Sandbox:
    """The billcore.testing.Sandbox of the run, reset for each test to its seeded state with an empty ledger."""
    _billcore_sandbox_process.control.reset()
    return _billcore_sandbox_process


@pytest.fixture(scope="session")
def signed_event() -> SignedEvent:
    """The function billcore.testing.event, which makes the body and the signature of a webhook."""
    from billcore.testing import event

    return event
