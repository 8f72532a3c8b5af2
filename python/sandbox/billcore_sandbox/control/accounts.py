"""Control routes for accounts, their keys and their clocks."""

from __future__ import annotations

import json
import random
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from billcore_sandbox import attempts, clock, seed
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import account_or_first, find, named_account
from billcore_sandbox.control.deliveries import last_answer
from billcore_sandbox.effects import new_key
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.moves import Move, move
from billcore_sandbox.options import LAST_YEAR, Options, of_accounts, read_time
from billcore_sandbox.service.patterns import check_errors
from billcore_sandbox.store import Account
from billcore_sandbox.world import World


def create(world: World, body: bodies.NewAccount) -> answers.MadeAccount:
    """Create an account with a few products and subscriptions of its own."""
    store = world.store
    options, own = _options(world, body)
    number = store.last_id("accounts") + 1
    identity = random.Random(secrets.randbits(256) if options.seed is None else f"{options.seed} {number}")
    begin = options.start if options.start is not None else clock.real().replace(microsecond=0)
    uuid = str(UUID(int=identity.getrandbits(128), version=4))
    key = f"key_{identity.getrandbits(128):032x}" if options.seed is not None else new_key()
    account = Account(number, uuid, key, options)
    if options.start is not None:
        account.clock.set(options.start)
    with store.transaction():
        store.insert("accounts", {"number": number, "uuid": uuid, "api_key": key, "options": json.dumps(own)})
        store.insert("api_keys", {"account": number, "key": key, "state": "valid"})
        store.know(account)
        # The same prices and dates in each account: else a test would depend on the tests before it, or on chance.
        ids = seed.fill_account(store.db, random.Random(store.seed), number, begin) if body.demo else {}
        store.save_clock(account)
    world.jobs.look(account)
    return {"account": account.uuid, "number": account.number, "api_key": account.api_key, "ids": ids}


def _options(world: World, body: bodies.NewAccount) -> tuple[Options, dict[str, Any]]:
    """The options of a new account, and those that the body sets. Raises Refusal 422."""
    given = {each.name: getattr(body, each.name) for each in of_accounts()}
    own = {name: value for name, value in given.items() if value is not msgspec.UNSET}
    try:
        options = world.options.replaced(own)
    except ValueError as error:  # the text names the options as the command line does
        named = re.sub(r"--([a-z-]+)", lambda found: found[1].replace("-", "_"), str(error))
        raise invalid(f"An option is wrong: {named}.") from None
    check_errors(options)
    return options, own


def delete(world: World, uuid: str) -> answers.AccountId:
    """Delete an account with all its data; the first account cannot be deleted."""
    account = named_account(world, uuid)
    assert account is not None
    if account in world.store.accounts[:1]:
        raise Refusal(422, "first_account", "The first account cannot be deleted: reset instead.")
    rows = world.store.all("SELECT id FROM endpoints WHERE account = ?", account.number)
    world.dispatcher.forget([row["id"] for row in rows])
    world.faults.forget(uuid)
    world.unknown.forget(uuid)
    world.store.forget(account)
    world.history.changed()
    return {"account": uuid}


def issue_key(world: World, body: bodies.Nothing) -> answers.MadeKey:
    """Issue one more API key for the account."""
    account = account_or_first(world, body.account)
    with world.effect(account) as work:
        row = work.machine.create(work, "key", "issue", {"account": account.number, "key": new_key()})
        work.record("key_issue", key_id=row["id"])
    return {"id": row["id"], "api_key": row["key"]}


def keys(world: World, query: bodies.Nothing) -> answers.Keys:
    """List the API keys of an account with their states."""
    account = account_or_first(world, query.account)
    rows = world.store.all("SELECT * FROM api_keys WHERE account = ? ORDER BY id", account.number)
    return {"keys": [{"id": row["id"], "api_key": row["key"], "state": row["state"]} for row in rows]}


def key_cause(world: World, cause: str, body: bodies.Nothing, number: str) -> answers.ChangedKey:
    """Revoke a key, or rotate it: issue a new key, and revoke the old one."""
    row, account = find(world, "key", number, body)
    with world.effect(account) as work:
        row = work.machine.fire(work, "key", row, cause)
        work.record(f"key_{cause}", key_id=row["id"])
        new = work.new_key
    successor: answers.MadeKey | None = None if new is None else {"id": new["id"], "api_key": new["key"]}
    return {"id": row["id"], "state": row["state"], "new": successor}


async def change_clock(world: World, body: bodies.ClockChange) -> answers.MovedClock:
    """Move the account's clock forward, freeze it or let it run.

    At each due time on the way, the changes happen and the first attempts of their deliveries end; then the clock goes
    on to the next due time.
    """
    account = account_or_first(world, body.account)
    if body.freeze and body.run:
        raise invalid("freeze and run contradict each other.")
    before, target = account.clock.now(), _target(world, account, body)
    if body.freeze:
        account.clock.freeze()
    done = await move(world.jobs, world.dispatcher, account, target, settles=body.settle, timeout=body.timeout)
    if done.arrived and body.run:
        account.clock.run()
    with world.effect(account) as work:
        moved = {"from": clock.iso_precise(before), "frozen": account.clock.frozen_at is not None}
        work.change("clock", account.number, **moved)
    if not done.arrived:
        raise _stopped(world, done)
    if body.run:
        world.store.save_clock(account)
        world.jobs.look(account)
    return {
        **show_clock(account),
        "happened": done.happened,
        "pending_deliveries": world.dispatcher.count_pending(account),
        "unanswered": _unanswered(world, done),
    }


def _unanswered(world: World, done: Move) -> list[answers.Unanswered]:
    """The endpoints of a move that did not answer in time."""
    found: list[answers.Unanswered] = []
    for number in sorted(done.unanswered):
        endpoint = world.store.one("SELECT url FROM endpoints WHERE id = ? AND state != 'deleted'", number)
        if endpoint is not None:
            pending = world.store.count("deliveries WHERE endpoint_id = ? AND state = 'pending'", number)
            error = attempts.late(done.account.options)
            found.append({"endpoint_id": number, "url": endpoint["url"], "pending": pending, "error": error})
    return found


def _stopped(world: World, done: Move) -> Refusal:
    """The refusal of a move whose time-out ended before the clock had arrived."""
    shown, to = show_clock(done.account), clock.iso_precise(done.target)
    count, pending = len(done.happened), world.dispatcher.count_pending(done.account)
    message = (
        f"The time-out ended when the clock showed {shown['now']}, on its way to {to} (changes so far: {count}, pending"
        f" deliveries: {pending}). Move to {to} again to go on."
    )
    details = {
        "arrived": count,
        "pending": pending,
        "last_answer": last_answer(world, done.account),
        "now": shown["now"],
        "to": to,
        "happened": done.happened,
        "unanswered": _unanswered(world, done),
    }
    return Refusal(408, "timeout", message, details=details)


def show_clock(account: Account) -> answers.ClockShown:
    frozen = account.clock.frozen_at is not None
    return {"account": account.uuid, "now": clock.iso_precise(account.clock.now()), "frozen": frozen}


def _target(world: World, account: Account, body: bodies.ClockChange) -> datetime:
    now = account.clock.now()
    try:
        if body.to is not None:
            if body.days or body.seconds:
                raise invalid("to cannot be combined with days or seconds.")
            target = read_time(body.to)
        else:
            target = now + timedelta(days=body.days, seconds=body.seconds)
    except ValueError:
        raise invalid("The field to must be a time as ISO 8601 writes it, such as 2026-03-31T09:00:00Z.") from None
    except OverflowError:
        target = datetime.max.replace(tzinfo=UTC)
    if target.year > LAST_YEAR:
        raise invalid(f"The clock cannot show a time that far away: {LAST_YEAR} is its last year.")
    if target < now:
        # The service shows whole seconds, and a cancelled subscription may have ended in the past.
        if target >= now.replace(microsecond=0) or _is_an_end(world, account, target):
            return now
        raise invalid(
            f"The clock shows {clock.iso(now)} and only moves forward: POST /_sandbox/accounts makes another."
        )
    return target


def _is_an_end(world: World, account: Account, time: datetime) -> bool:
    """Whether the time is `ends_at` of a subscription."""
    found = world.store.one(
        "SELECT 1 FROM subscriptions WHERE account = ? AND ends_at = ?", account.number, clock.iso(time)
    )
    return found is not None
