"""Creates and deletes accounts: each test can have its own, with a few products and subscriptions.

Service interface: Authentication.
"""

from __future__ import annotations

import random
import secrets
import uuid
from typing import Any

from billcore_sandbox import clock, seed
from billcore_sandbox.clock import Clock
from billcore_sandbox.effects import new_key
from billcore_sandbox.store import Account
from billcore_sandbox.world import World


def create(world: World, *, demo: bool = True) -> tuple[Account, dict[str, Any]]:
    """Create an account; returns it and the ids of its demo data by name. Without `demo` the account is empty."""
    store, options = world.store, world.options
    number = store.last_id("accounts") + 1
    rng = random.Random(f"{options.seed} {number}") if options.seed is not None else random.Random(secrets.randbits(64))
    begin = options.start if options.start is not None else clock.real().replace(microsecond=0)
    account_id = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    key = f"key_{rng.getrandbits(128):032x}" if options.seed is not None else new_key()
    account = Account(number, account_id, key, Clock())
    if options.start is not None:
        account.clock.set(options.start)
    with store.transaction():
        store.db.execute("INSERT INTO accounts (number, uuid, api_key) VALUES (?, ?, ?)", (number, account_id, key))
        store.db.execute("INSERT INTO api_keys (account, key, state) VALUES (?, ?, 'valid')", (number, key))
        store.know(account)
        ids = seed.fill_account(store.db, rng, number, begin) if demo else {}
        store.save_clock(account)
    world.jobs.look(account)
    return account, ids


def dispose(world: World, account: Account) -> None:
    """Delete an account with all its data."""
    rows = world.store.all("SELECT id FROM endpoints WHERE account = ?", account.number)
    world.dispatcher.forget(account.number, [row["id"] for row in rows])
    world.faults.forget(account.uuid)
    world.unknown.forget(account.uuid)
    world.store.forget(account)
    world.history.wake()
