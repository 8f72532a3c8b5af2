"""Runs proof.py with few deliveries: it must accept the correct receiver, and find the errors of two wrong ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from billcore import inbox, webhooks
from billcore.testing import Sandbox
from journal.support import Database, PostgresDatabase

from .proof import effect, pause, prove

SEED = 20261126


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def claims_first(connection: Any, event: webhooks.Event, rng: random.Random) -> bool:
    """A wrong receiver: an event is lost if the worker is killed after the first commit."""
    claimed = inbox.claim(connection, event)
    connection.commit()
    for _ in range(50):
        pause(rng)
    if claimed:
        effect(connection, event)
    connection.commit()
    return claimed


def claims_last(connection: Any, event: webhooks.Event, rng: random.Random) -> bool:
    """A wrong receiver: it commits the effect before the claim, so duplicates repeat the effect."""
    effect(connection, event)
    connection.commit()
    return inbox.claim(connection, event)


def test_each_event_is_handled_once(database: Database, sandbox: Sandbox) -> None:
    counts = prove(database, sandbox, deliveries=400, workers=8, seed=SEED)
    assert counts["deliveries"] > counts["claims"] and counts["kills"] > 0


@pytest.mark.parametrize(("handler", "found"), [(claims_first, r"{} {'order"), (claims_last, r"{'order.*} {}")])
def test_the_proof_finds_wrong_receivers(
    postgresql: PostgresDatabase, sandbox: Sandbox, handler: Any, found: str
) -> None:
    with pytest.raises(AssertionError, match=found):
        prove(postgresql, sandbox, deliveries=200, workers=8, seed=SEED, handler=handler)
