"""Charges that survive a crash: a Journal records each charge in a database before the charge is sent.

    journal = Journal(lambda: sqlite3.connect("charges.db"), client, settle=60)
    order = journal.charge("invoice-2041", subscription_id, product_id=7, amount=1500)

After any error, and after a crash, call charge() again with the same key. python/docs/journal.md describes the
guarantee, its limits and the states of a charge.
"""

from __future__ import annotations

from ._charge import Charge
from ._errors import (
    AmbiguousChargeError,
    ChargeInProgressError,
    ChargePendingError,
    JournalError,
    KeyReusedError,
    UnresolvedChargeError,
)
from ._journal import AsyncJournal, Journal, schema

__all__ = [
    "AmbiguousChargeError",
    "AsyncJournal",
    "Charge",
    "ChargeInProgressError",
    "ChargePendingError",
    "Journal",
    "JournalError",
    "KeyReusedError",
    "UnresolvedChargeError",
    "schema",
]
