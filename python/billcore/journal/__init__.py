"""A charge that survives the process: each charge is recorded in a database before it is sent.

    journal = Journal(lambda: sqlite3.connect("charges.db"), client, settle=60)
    order = journal.charge("invoice-2041", subscription_id, product_id=7, amount=1500)

After any error, also after a crash, call again with the same key. python/journal.md has the promise, its limits and the
table of states.
"""

from __future__ import annotations

from ._errors import (
    AmbiguousChargeError,
    ChargeInProgressError,
    ChargePendingError,
    JournalError,
    KeyReusedError,
    UnresolvedChargeError,
)
from ._journal import AsyncJournal, Journal
from ._machine import Charge

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
]
