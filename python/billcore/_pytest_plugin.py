"""pytest plugin: the fixtures `billcore_sandbox` and `signed_event`.

pytest imports this module in every run, so the module imports only pytest; a fixture imports billcore on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from billcore.testing import Sandbox, SignedEvent


@pytest.fixture(scope="session")
def _billcore_sandbox_process() -> Iterator[Sandbox]:
    """One sandbox process for the whole run, because a start takes longer than a reset."""
    from billcore.testing import Sandbox

    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def billcore_sandbox(_billcore_sandbox_process: Sandbox) -> Sandbox:
    """A billcore.testing.Sandbox in its seeded state, with an empty ledger; shared by the tests of the run."""
    _billcore_sandbox_process.control.reset()
    return _billcore_sandbox_process


@pytest.fixture(scope="session")
def signed_event() -> SignedEvent:
    """billcore.testing.event: the body and the signature of one webhook, signed with billcore.testing.SECRET."""
    from billcore.testing import event

    return event
