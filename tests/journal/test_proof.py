"""Runs proof.py with few charges. The docstring of proof.py has the command for the whole check."""

from __future__ import annotations

from billcore.testing import Sandbox

from .proof import prove
from .support import Database


def test_no_charge_is_made_twice_or_lost(database: Database, sandbox: Sandbox) -> None:
    counts = prove(database, sandbox, charges=40, workers=3, seed=20261126)
    assert counts["kills"] > 5 and counts["faults"] > 0
